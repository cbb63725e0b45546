"""`lmi wait`: wait until an endpoint serves what was deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lmi_constructs.cli._endpoint_call import readable_errors, region_option
from lmi_constructs.cli._number import Number

if TYPE_CHECKING:
    from lmi_constructs.runtime import EndpointState


@click.command()
@click.argument("name")
@click.option("--component", help="Inference component that must also be in service.")
@click.option(
    "--config", "expected", help="Endpoint configuration that must be serving at the end."
)
@click.option(
    "--timeout",
    type=Number(min=0),
    default=3600,
    show_default=True,
    help="Seconds to wait.",
)
@click.option(
    "--poll",
    type=Number(min=0, min_open=True),
    default=15,
    show_default=True,
    help="Seconds between polls.",
)
@region_option
def wait(
    name: str,
    component: str | None,
    expected: str | None,
    timeout: float,
    poll: float,
    region: str | None,
) -> None:
    """Wait until endpoint NAME is in service.

    The exit code is 1 if it failed, if an update was rolled back (it serves the previous
    configuration), or if it is not ready in time.
    """
    with readable_errors():
        from lmi_constructs.runtime import service_client, wait_until_in_service

        wait_until_in_service(
            name,
            component=component,
            expected_config=expected,
            timeout_seconds=timeout,
            poll_seconds=poll,
            client=service_client("sagemaker", region),
            on_change=_print,
        )


def _print(state: EndpointState) -> None:
    click.echo(str(state))
