"""What the examples' tests share."""

import os

# The CDK's own template validator costs two seconds a process; `cdk deploy` runs it anyway.
os.environ.setdefault("CDK_VALIDATION", "false")
