"""What can go wrong outside the deployments themselves."""


class LocalAwsError(RuntimeError):
    """The local AWS or its CDK CLI cannot do what was asked; the message says what to do."""


class CdkError(LocalAwsError):
    """A command of the CDK CLI failed; the message holds what it printed."""
