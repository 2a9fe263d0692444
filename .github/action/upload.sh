#!/usr/bin/env bash
# Uploads the findings to code scanning through its REST API.
#
# REPOSITORY, COMMIT, REF   the checked commit
# GH_TOKEN                  a token with permission to write security events
set -euo pipefail

sarif="$RUNNER_TEMP/sqslint.sarif"
if [ ! -s "$sarif" ]; then
  echo "sqslint: no report was written, so there is nothing to upload"
  exit 0
fi
gzip --stdout "$sarif" | base64 | tr -d '\n' > "$sarif.gz.base64"
jq --null-input --rawfile sarif "$sarif.gz.base64" --arg commit "$COMMIT" --arg ref "$REF" \
  '{commit_sha: $commit, ref: $ref, sarif: $sarif, tool_name: "sqslint"}' \
  | gh api --silent --method POST "repos/$REPOSITORY/code-scanning/sarifs" --input -
