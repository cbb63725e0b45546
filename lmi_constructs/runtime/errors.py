"""What can go wrong when talking to an endpoint; every error says what to do.

```
LmiRuntimeError
├── RequestError             the request cannot be sent as it is (also a ValueError)
├── CallerError              this machine has no region, no credentials or no permission
│   └── NotAllowedError      who calls may not do this
├── ConnectionFailedError    the service cannot be reached
├── EndpointError            the endpoint cannot be called
│   ├── EndpointNotFoundError
│   ├── ComponentError       the inference component is missing or must be named
│   ├── NotReadyError        it is not in service, or the update was rolled back
│   │   └── AsleepError      it has no copy: the request wakes it, if it scales to zero
│   └── ThrottledError
├── ContainerError           the container answered with an error (status, text)
│   ├── RefusedError         it does not accept this request
│   ├── OverloadedError      its queue is full or no worker is free
│   ├── OutOfMemoryError     it has no accelerator memory left for this request
│   └── InvocationTimeoutError   it took longer than an invocation may
└── StreamError              a streamed answer went wrong on its way
    ├── StreamInterruptedError   it ended before the model had finished
    └── MalformedStreamError     it is neither JSON lines nor server-sent events
```
"""

from __future__ import annotations


class LmiRuntimeError(Exception):
    """Something went wrong when talking to an endpoint.

    Attributes:
        message: What went wrong, with which value.
        advice: What to do.
    """

    def __init__(self, message: str, advice: str) -> None:
        """Say what went wrong and what to do."""
        self.message, self.advice = message, advice
        super().__init__(f"{message}; {advice}")


class RequestError(LmiRuntimeError, ValueError):
    """The request cannot be sent as it is."""


class CallerError(LmiRuntimeError):
    """This machine has no region, no credentials or no permission."""


class NotAllowedError(CallerError):
    """Who calls is known, and may not do this."""


class ConnectionFailedError(LmiRuntimeError):
    """The service cannot be reached, or the connection broke."""


class EndpointError(LmiRuntimeError):
    """The endpoint cannot be called."""


class EndpointNotFoundError(EndpointError):
    """There is no endpoint of this name in this account and region."""


class ComponentError(EndpointError):
    """The inference component does not exist, or the endpoint needs one to be named."""


class NotReadyError(EndpointError):
    """The endpoint is not in service, failed, or rolled its update back."""


class AsleepError(NotReadyError):
    """The component has no copy; if it scales to zero, the request wakes it."""


class ThrottledError(EndpointError):
    """Too many calls; botocore's own retries are used up."""


class ContainerError(LmiRuntimeError):
    """The container answered with an error.

    Attributes:
        status: HTTP status that the container answered with; 0 if it did not answer in time,
            `None` if the error came without one.
        text: What the container said.
        log_stream: ARN of the log stream that says more, where SageMaker names it.
    """

    def __init__(
        self,
        message: str,
        advice: str,
        *,
        status: int | None = None,
        text: str = "",
        log_stream: str | None = None,
    ) -> None:
        """Carry the container's own words."""
        self.status, self.text, self.log_stream = status, text, log_stream
        super().__init__(message, advice)


class RefusedError(ContainerError):
    """The container does not accept this request: a bad body, parameter, model or adapter name."""


class OverloadedError(ContainerError):
    """The container's queue is full, or none of its workers runs."""


class OutOfMemoryError(ContainerError):
    """The container has no accelerator memory left for this request."""


class InvocationTimeoutError(ContainerError):
    """The container took longer than an invocation may take."""


class StreamError(LmiRuntimeError):
    """A streamed answer went wrong on its way."""


class StreamInterruptedError(StreamError):
    """The stream ended before the model had finished; what came before is incomplete."""


class MalformedStreamError(StreamError):
    """The stream is neither JSON lines nor server-sent events."""
