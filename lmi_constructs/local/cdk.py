"""The unmodified CDK CLI, run against a local AWS."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmi_constructs.local.errors import CdkError

if TYPE_CHECKING:
    from lmi_constructs.local.server import LocalAws

CDK_CLI = "aws-cdk@2.1148.1"
"""The CLI the library is tried with; the one place that names its version."""

QUIET_FLAGS = ("--no-notices", "--no-version-reporting", "--ci")
"""No notices looked up, no usage reported, everything on standard output."""

NODE_VERSIONS = ",".join(str(version) for version in range(14, 40))
"""Major versions of Node.js whose end of life jsii and the CDK CLI shall not report."""

QUIET_ENVIRONMENT = {
    "npm_config_update_notifier": "false",
    "npm_config_fund": "false",
    "npm_config_audit": "false",
    "npm_config_yes": "true",
    "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": NODE_VERSIONS,
    "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "true",
    "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "true",
    "AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED": "true",
    "CDK_DISABLE_CLI_TELEMETRY": "true",
}
"""Variables of npm, jsii and the CDK CLI that keep their own concerns out of the output."""


@dataclass(frozen=True)
class CdkResult:
    """What a run of the CLI printed.

    Attributes:
        command: The command as it was run.
        exit_code: 0 if it worked.
        output: Everything it printed.
    """

    command: tuple[str, ...]
    exit_code: int
    output: str


class CdkCli:
    """Runs the pinned CDK CLI through npx, talking to a local AWS and nothing else.

    Example:
        ```python
        with LocalAws() as aws:
            cdk = CdkCli(aws, app="python app.py")
            cdk.bootstrap()
            cdk.deploy()
            cdk.destroy()
        ```

    Args:
        aws: The local AWS to deploy to.
        app: Command that synthesizes the app, or a directory that holds a cloud assembly. By
            default what the `cdk.json` in the directory says.
        directory: Directory to run in.
        output: Directory for the cloud assembly; the CLI's default is `cdk.out`.
        context: CDK context values.
    """

    def __init__(
        self,
        aws: LocalAws,
        *,
        app: str | None = None,
        directory: str | Path = ".",
        output: str | Path | None = None,
        context: dict[str, str] | None = None,
    ) -> None:
        self._aws = aws
        self._directory = Path(directory)
        self._options = [
            *(["--app", app] if app is not None else []),
            *(["--output", str(output)] if output is not None else []),
            *(f"--context={name}={value}" for name, value in (context or {}).items()),
        ]

    def bootstrap(self) -> CdkResult:
        """Bootstrap the local account, as a real one is before its first deployment."""
        account = self._aws.environment()["CDK_DEFAULT_ACCOUNT"]
        return self.run("bootstrap", f"aws://{account}/{self._aws.region}")

    def synth(self, *stacks: str) -> CdkResult:
        """Synthesize the app."""
        return self.run("synth", *(stacks or ("--all",)), "--quiet")

    def diff(self, *stacks: str) -> CdkResult:
        """Compare what is deployed with the app, by default all of it."""
        return self.run("diff", *stacks)

    def deploy(self, *stacks: str) -> CdkResult:
        """Deploy stacks, by default all of them."""
        return self.run("deploy", *(stacks or ("--all",)), "--require-approval=never")

    def destroy(self, *stacks: str) -> CdkResult:
        """Destroy stacks, by default all of them."""
        return self.run("destroy", *(stacks or ("--all",)), "--force")

    def run(self, *arguments: str, check: bool = True) -> CdkResult:
        """Run any command of the CLI.

        Args:
            arguments: Command and options, such as `"deploy", "MyStack"`.
            check: Whether a failure raises.

        Raises:
            CdkError: If Node's npx is missing, or the command failed and `check` is on.
        """
        command = (_npx(), "--yes", CDK_CLI, *arguments, *self._options, *QUIET_FLAGS)
        done = subprocess.run(  # noqa: S603
            command,
            cwd=self._directory,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        result = CdkResult(command, done.returncode, done.stdout)
        if check and result.exit_code != 0:
            raise CdkError(
                f"cdk {arguments[0]} failed with exit code {result.exit_code}:\n"
                f"{result.output.strip()}"
            )
        return result

    def environment(self) -> dict[str, str]:
        """Return the environment the CLI runs in: the user's, without their AWS settings."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("AWS_")
        }
        return {**inherited, **self._aws.environment(), **QUIET_ENVIRONMENT}


def _npx() -> str:
    npx = shutil.which("npx")
    if npx is None:
        raise CdkError("npx was not found, and the CDK CLI runs on Node.js; install Node.js 22")
    return npx
