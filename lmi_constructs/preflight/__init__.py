"""What only the account can tell before a deployment: files, image, quota, keys, names.

Read-only calls of boto3 about the endpoints in a cloud assembly (extra `cli`). What may not be asked,
or cannot be reached, is unknown; that never fails.
"""

from lmi_constructs._extras import needed

with needed("lmi_constructs.preflight", "cli"):
    from lmi_constructs.preflight.account import Account
    from lmi_constructs.preflight.inspect import preflight
    from lmi_constructs.preflight.outcome import CHECKS, Outcome, Status

__all__ = ["CHECKS", "Account", "Outcome", "Status", "preflight"]
