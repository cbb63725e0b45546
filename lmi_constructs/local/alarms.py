"""CloudWatch with composite alarms, and with alarms that set off scaling policies."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from moto.applicationautoscaling.models import applicationautoscaling_backends
from moto.cloudwatch import urls as moto_urls
from moto.cloudwatch.models import CloudWatchBackend
from moto.cloudwatch.responses import CloudWatchResponse

from lmi_constructs.local.scaling import LocalScalingBackend

if TYPE_CHECKING:
    from moto.core.responses import ActionResult


class LocalCloudWatchBackend(CloudWatchBackend):
    """moto's CloudWatch, whose alarms act: those that are set by hand, and those on missing copies."""

    def set_alarm_state(
        self, alarm_name: str, reason: str, reason_data: str | None, state_value: str
    ) -> None:
        """Set the state of an alarm, and run the scaling policies among its actions."""
        super().set_alarm_state(alarm_name, reason, reason_data, state_value)  # type: ignore[arg-type]
        if state_value != "ALARM":
            return
        scaling = applicationautoscaling_backends[self.account_id][self.region_name]
        for action in self.alarms[alarm_name].alarm_actions:
            if isinstance(scaling, LocalScalingBackend):
                scaling.run_policy(action, alarm_name)

    def hear_of(self, metric_name: str, dimensions: dict[str, str]) -> None:
        """Set off the alarms that wait for one value of a metric, and let them be quiet again."""
        for alarm in list(self.alarms.values()):
            watched = {dimension.name: dimension.value for dimension in alarm.dimensions or ()}
            if alarm.metric_name == metric_name and watched == dimensions:
                self.set_alarm_state(alarm.name, f"1 value of {metric_name}", None, "ALARM")
                self.set_alarm_state(alarm.name, "no further value", None, "OK")

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
