"""CloudWatch with composite alarms: moto describes them, but cannot make them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from moto.cloudwatch import urls as moto_urls
from moto.cloudwatch.models import CloudWatchBackend
from moto.cloudwatch.responses import CloudWatchResponse

if TYPE_CHECKING:
    from moto.core.responses import ActionResult


class LocalCloudWatchBackend(CloudWatchBackend):
    """moto's CloudWatch, answered by `LocalCloudWatchResponse`."""

    @property
    def _url_module(self) -> SimpleNamespace:
        """Moto's place for the addresses of a service."""
        paths = dict.fromkeys(moto_urls.url_paths, LocalCloudWatchResponse.dispatch)
        return SimpleNamespace(url_bases=moto_urls.url_bases, url_paths=paths)


class LocalCloudWatchResponse(CloudWatchResponse):
    """Adds the one operation."""

    def put_composite_alarm(self) -> ActionResult:
        """Answer PutCompositeAlarm: moto's PutMetricAlarm keeps an alarm rule if there is one."""
        return self.put_metric_alarm()
