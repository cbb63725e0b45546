#!/usr/bin/env bash
# The gate of a pipeline, after `cdk synth`: check every template, and keep what reviewers look at.
# Usage: gate.sh [CLOUD-ASSEMBLY-OR-TEMPLATE]
set -euo pipefail
assembly="${1:-cdk.out}"
findings="${FINDINGS:-lmi.sarif}"

# 1 with findings, 2 if it cannot be read: both stop the pipeline, after the file is written.
status=0
lmi check "$assembly" --format sarif > "$findings" || status=$?
# What could not be read has been said already.
[ "$status" -eq 2 ] || lmi check "$assembly" || true
exit "$status"
