"""An account in which all is as the template needs it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lmi_constructs.checks import TemplateSource
from lmi_constructs.preflight import preflight
from tests.operations.support import model_files
from tests.preflight.support import ACCOUNT, MANIFEST, REGION, Faked, template

if TYPE_CHECKING:
    from lmi_constructs.local import LocalAws
    from lmi_constructs.preflight import Outcome


class Prepared:
    """The local AWS with a bucket, a model and an image in it.

    Attributes:
        fakes: Clients that answer something else, by service.
        asked: Every service and region that the last look asked.
    """

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        self.fakes: dict[str, Any] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.s3 = aws.client("s3")
        self.s3.create_bucket(Bucket="models")
        self.put(model_files())
        ecr = aws.client("ecr")
        ecr.create_repository(repositoryName="djl-inference")
        ecr.put_image(
            repositoryName="djl-inference",
            imageManifest=json.dumps(MANIFEST),
            imageTag="0.36.0-lmi27.0.0-cu130",
        )

    def put(self, files: dict[str, bytes | None], prefix: str = "llama/", **how: Any) -> None:
        """Write files under a prefix; `None` deletes one."""
        for name, content in files.items():
            if content is None:
                self.s3.delete_object(Bucket="models", Key=prefix + name)
            else:
                self.s3.put_object(Bucket="models", Key=prefix + name, Body=content, **how)

    def look(self, body: dict[str, Any] | None = None, **keywords: Any) -> list[Outcome]:
        """Return all outcomes about a template."""
        given = {"region": REGION, "account": ACCOUNT, "stack_name": "Llm", **keywords}
        facts = given.pop("facts", None)
        account = Faked(self.fakes)
        source = TemplateSource("template", body or template(), **given)
        found = list(preflight([source], account, facts))
        self.asked = account.asked
        return found


@pytest.fixture
def account(aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Prepared:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)
    return Prepared(aws)
