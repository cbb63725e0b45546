"""Deploys a GPT-OSS-120B endpoint through the real CDK CLI onto the embedded local AWS.

Run it with `make demo`. It shows the deployed endpoint, talks to it, changes a setting, deploys
again (the endpoint stays, its configuration is replaced) and destroys everything. No AWS account
is needed, and nothing reaches the network but `npx`, which fetches the pinned CDK CLI once.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from lmi_constructs.facts.metrics import endpoint_metrics
from lmi_constructs.findings import LmiError
from lmi_constructs.readable import readable

if TYPE_CHECKING:
    from lmi_constructs.local import CdkCli, LocalAws

ROOT = Path(__file__).parent.parent
STACK = "GptOss120B"
BUCKET = "demo-models"
PREFIX = "gpt-oss-120b/"
CONTEXT = {"preset": "gpt-oss-120b", "model_bucket": BUCKET, "model_prefix": PREFIX}

console = Console(highlight=False)


def main() -> int:
    """Run every step; a failing step ends with what failed and a non-zero exit."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.default_int_handler)
    started = time.monotonic()
    try:
        deploy_talk_update_destroy()
    except KeyboardInterrupt:
        console.print("\n[yellow]stopped; the local AWS is gone and nothing is left running[/]")
        return 130
    except (DemoError, LmiError) as error:
        console.print(f"\n[red bold]failed:[/] {error}", soft_wrap=True)
        return 1
    console.print(f"\n[green bold]Done[/] in {time.monotonic() - started:.0f} s.")
    return 0


def deploy_talk_update_destroy() -> None:
    """Start a local AWS and tell the story on it."""
    from lmi_constructs.local import LocalAws, LocalAwsError

    try:
        with tempfile.TemporaryDirectory(prefix="lmi-demo-") as scratch, LocalAws() as aws:
            run(aws, Path(scratch))
    except LocalAwsError as error:
        raise DemoError(str(error)) from error


class DemoError(Exception):
    """A step did not show what it should."""


def run(aws: LocalAws, scratch: Path) -> None:
    """The story, step by step."""
    from lmi_constructs.local import CdkCli

    def cdk(**settings: str) -> CdkCli:
        return CdkCli(
            aws,
            app=f"{sys.executable} app.py",
            directory=ROOT,
            output=scratch / "cdk.out",
            context={**CONTEXT, **settings},
        )

    step(f"A local AWS answers at {aws.endpoint_url} (region {aws.region})")
    aws.client("s3").create_bucket(Bucket=BUCKET)
    aws.client("s3").put_object(Bucket=BUCKET, Key=f"{PREFIX}config.json", Body=b"{}")

    step("cdk bootstrap")
    cdk().bootstrap()

    step(f"cdk deploy {STACK}: model data from s3://{BUCKET}/{PREFIX}")
    cdk().deploy(STACK)
    endpoint = endpoint_of(aws)
    show(aws, endpoint)

    step("A chat request, and the same one streamed")
    talk(aws, endpoint["EndpointName"])

    step("Change a setting (max_rolling_batch_size 64 -> 32) and deploy again")
    cdk(max_rolling_batch_size="32").deploy(STACK)
    updated = endpoint_of(aws)
    compare(aws, endpoint, updated)

    step("cdk destroy")
    cdk().destroy(STACK)
    nothing_left(aws)


def step(text: str) -> None:
    """Head a step."""
    console.print(f"\n[bold cyan]>[/] [bold]{text}[/]")


def expect(condition: object, message: str) -> None:
    """Fail the demo unless what it claims is so."""
    if not condition:
        raise DemoError(message)


def endpoint_of(aws: LocalAws) -> dict[str, Any]:
    """Return the description of the one endpoint."""
    sagemaker = aws.client("sagemaker")
    names = [item["EndpointName"] for item in sagemaker.list_endpoints()["Endpoints"]]
    expect(len(names) == 1, f"one endpoint expected, found {names}")
    described: dict[str, Any] = sagemaker.describe_endpoint(EndpointName=names[0])
    expect(described["EndpointStatus"] == "InService", f"{names[0]} is not InService")
    return described


def show(aws: LocalAws, endpoint: dict[str, Any]) -> None:
    """Print what stands behind the endpoint, read back from the API."""
    sagemaker = aws.client("sagemaker")
    config = sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
    variant = config["ProductionVariants"][0]
    model = sagemaker.describe_model(ModelName=variant["ModelName"])
    container = model["PrimaryContainer"]
    resource = f"endpoint/{endpoint['EndpointName']}/variant/{variant['VariantName']}"
    scaling = aws.client("application-autoscaling")
    target = scaling.describe_scalable_targets(
        ServiceNamespace="sagemaker", ResourceIds=[resource]
    )["ScalableTargets"][0]
    policies = scaling.describe_scaling_policies(ServiceNamespace="sagemaker", ResourceId=resource)[
        "ScalingPolicies"
    ]
    alarms = aws.client("cloudwatch").describe_alarms()["MetricAlarms"]

    table = Table(show_header=False, box=None, padding=(0, 2), pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")  # a cut image URI is of no use
    table.add_row("endpoint", f"{endpoint['EndpointName']}  [green]{endpoint['EndpointStatus']}[/]")
    table.add_row("instance", f"{variant['InitialInstanceCount']} x {variant['InstanceType']}")
    table.add_row("host image", variant.get("InferenceAmiVersion", "default"))
    table.add_row("image", container["Image"])
    table.add_row("model data", container["ModelDataSource"]["S3DataSource"]["S3Uri"])
    table.add_row("isolation", "on" if model["EnableNetworkIsolation"] else "off")
    for name, value in sorted(container["Environment"].items()):
        table.add_row("", f"[dim]{name}={value}[/]")
    table.add_row("scaling", f"{target['MinCapacity']} to {target['MaxCapacity']} instances")
    for policy in policies:
        tracking = policy["TargetTrackingScalingPolicyConfiguration"]
        metric = tracking["PredefinedMetricSpecification"]["PredefinedMetricType"]
        table.add_row("", f"[dim]{metric} at {readable(tracking['TargetValue'])}[/]")
    table.add_row("alarms", str(len(alarms)))
    for alarm in alarms:
        table.add_row(
            "",
            f"[dim]{alarm['MetricName']} {alarm['ComparisonOperator']} {threshold(alarm)}[/]",
        )
    console.print(table)
    expect(policies, "no scaling policy was made")
    expect(alarms, "no alarm was made")


def threshold(alarm: dict[str, Any]) -> str:
    """Return an alarm's threshold, times in seconds instead of CloudWatch's microseconds."""
    if endpoint_metrics()[alarm["MetricName"]].unit == "Microseconds":
        return f"{readable(alarm['Threshold'] / 1_000_000)} s"
    return readable(alarm["Threshold"])


def talk(aws: LocalAws, name: str) -> None:
    """Send a chat request and a streamed one through boto3, as an application would."""
    runtime = aws.client("sagemaker-runtime")
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": "Say hello."}],
        "max_tokens": 64,
    }
    answer = runtime.invoke_endpoint(
        EndpointName=name, ContentType="application/json", Body=json.dumps(body)
    )
    content = json.loads(answer["Body"].read())["choices"][0]["message"]["content"]
    console.print("chat    ", content, soft_wrap=True)
    expect(content, "the chat answer is empty")

    stream = runtime.invoke_endpoint_with_response_stream(
        EndpointName=name,
        ContentType="application/json",
        Body=json.dumps({**body, "stream": True}),
    )
    received = b"".join(event["PayloadPart"]["Bytes"] for event in stream["Body"])
    chunks = [json.loads(line) for line in received.splitlines() if line.strip()]
    text = "".join(
        chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"]
    )
    console.print(f"streamed ({len(chunks)} chunks)", text, soft_wrap=True)
    expect(text == content, "the streamed answer differs from the plain one")


def compare(aws: LocalAws, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Show that the endpoint was updated in place and that nothing was orphaned."""
    old, new = before["EndpointConfigName"], after["EndpointConfigName"]
    console.print(f"endpoint  {after['EndpointName']} (same)")
    console.print(f"config    {old} [dim]->[/] {new}")
    expect(after["EndpointArn"] == before["EndpointArn"], "the endpoint was replaced")
    expect(after["CreationTime"] == before["CreationTime"], "the endpoint was made anew")
    expect(old != new, "the endpoint still runs the old configuration")
    sagemaker = aws.client("sagemaker")
    expect(len(sagemaker.list_endpoint_configs()["EndpointConfigs"]) == 1, "a config is orphaned")
    expect(len(sagemaker.list_models()["Models"]) == 1, "a model is orphaned")


def nothing_left(aws: LocalAws) -> None:
    """Show that the stack took everything with it."""
    sagemaker = aws.client("sagemaker")
    left = {
        "endpoints": sagemaker.list_endpoints()["Endpoints"],
        "endpoint configs": sagemaker.list_endpoint_configs()["EndpointConfigs"],
        "models": sagemaker.list_models()["Models"],
        "alarms": aws.client("cloudwatch").describe_alarms()["MetricAlarms"],
    }
    for kind, items in left.items():
        expect(not items, f"{kind} are left behind: {items}")
    console.print("endpoints, configs, models and alarms: none left")


if __name__ == "__main__":
    sys.exit(main())
