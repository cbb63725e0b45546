"""Why an endpoint does not work: its state and its log, recognized and explained.

[`recognize`][] is pure; [`diagnose_endpoint`][] reads a live endpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy
from lmi_constructs.runtime.diagnosis.recognize import Diagnosis, recognize
from lmi_constructs.runtime.diagnosis.recognizers import RECOGNIZERS, Recognizer

if TYPE_CHECKING:
    from lmi_constructs.runtime.diagnosis.endpoint import Report, diagnose_endpoint

__all__ = ["RECOGNIZERS", "Diagnosis", "Recognizer", "Report", "diagnose_endpoint", "recognize"]

_ENDPOINT = "lmi_constructs.runtime.diagnosis.endpoint"
__getattr__, __dir__ = lazy(__name__, {"Report": _ENDPOINT, "diagnose_endpoint": _ENDPOINT})
