"""Why an endpoint does not work: its state and its log, recognised and explained.

[`recognise`][] is pure; [`diagnose_endpoint`][] reads a live endpoint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmi_constructs._exports import lazy
from lmi_constructs.runtime.diagnosis.recognise import Diagnosis, recognise
from lmi_constructs.runtime.diagnosis.recognisers import RECOGNISERS, Recogniser

if TYPE_CHECKING:
    from lmi_constructs.runtime.diagnosis.endpoint import Report, diagnose_endpoint

__all__ = ["RECOGNISERS", "Diagnosis", "Recogniser", "Report", "diagnose_endpoint", "recognise"]

_ENDPOINT = "lmi_constructs.runtime.diagnosis.endpoint"
__getattr__, __dir__ = lazy(__name__, {"Report": _ENDPOINT, "diagnose_endpoint": _ENDPOINT})
