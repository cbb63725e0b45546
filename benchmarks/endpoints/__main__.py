"""`python -m benchmarks.endpoints ours|raw|alpha COUNT`: synthesize endpoints, as an app does."""

from __future__ import annotations

import sys
from importlib import import_module

import aws_cdk as cdk

ENDPOINTS_PER_STACK = 50
"""CloudFormation takes 500 resources in a stack; an endpoint has 8 here."""


def main(way: str, count: int) -> None:
    """Synthesize a number of endpoints, written in one way."""
    endpoint = import_module(f"benchmarks.endpoints.{way}").endpoint
    app = cdk.App()
    environment = cdk.Environment(account="111122223333", region="us-west-2")
    for number in range(count):
        if number % ENDPOINTS_PER_STACK == 0:
            stack = cdk.Stack(app, f"Stack{number // ENDPOINTS_PER_STACK}", env=environment)
        endpoint(stack, f"Chat{number}")
    app.synth()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
