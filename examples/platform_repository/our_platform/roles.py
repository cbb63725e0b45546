"""A rule of this company for every role, whoever makes it."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam


@jsii.implements(cdk.IPropertyInjector)
class RolesUnderOurPath:
    """Puts every role under the path that our guardrails look at."""

    @property
    def construct_unique_id(self) -> str:
        """The class whose properties are changed."""
        return iam.Role.PROPERTY_INJECTION_ID

    def inject(self, original_props: Any, context: Any) -> Any:
        """Return the properties with our path."""
        del context
        return {**original_props, "path": "/llm/"}
