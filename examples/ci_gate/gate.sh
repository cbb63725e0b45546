#!/usr/bin/env bash
# The gate of a pipeline, after `cdk synth`: check every template, and keep what reviewers look at.
# Usage: gate.sh [CLOUD-ASSEMBLY-OR-TEMPLATE [OPTION OF lmi check...]]
set -euo pipefail
assembly="${1:-cdk.out}"
findings="${FINDINGS:-lmi.sarif}"

# 1 with findings to fail on, 2 if nothing can be read: both stop the pipeline.
status=0
lmi check "$assembly" "${@:2}" --format sarif > "$findings" || status=$?
if [ "$status" -eq 2 ]; then
    rm "$findings" # empty: the reason is on standard error
else
    lmi check "$assembly" "${@:2}" || true
fi
exit "$status"
