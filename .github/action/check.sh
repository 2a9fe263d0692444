#!/usr/bin/env bash
# Runs the check, and writes the inputs of the other steps: a SARIF file, and the comment on the change.
#
# PATHS, ARGUMENTS   inputs, separated by spaces or line breaks
# SARIF              the file to write; none if empty
# COMMENT            `true` to compare with BASE, the target commit of the pull request
set -euo pipefail

sqslint="$RUNNER_TEMP/sqslint/bin/sqslint"
# `read` fails because the text does not end with the delimiter.
read -r -d '' -a paths <<< "$PATHS" || true
read -r -d '' -a arguments <<< "$ARGUMENTS" || true
reports=()
if [ -n "${SARIF:-}" ]; then
  reports+=(--report "sarif=$SARIF")
fi

code=0
"$sqslint" check "${arguments[@]}" "${reports[@]}" -- "${paths[@]}" || code=$?

if [ "${COMMENT:-}" = true ] && [ -n "${BASE:-}" ]; then
  # The comment describes the change since the target branch, so the commit at which they diverged is needed.
  if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    git fetch --quiet --unshallow origin "$BASE" || true
  fi
  "$sqslint" check "${arguments[@]}" --since "$BASE" --quiet \
    --report "markdown=$RUNNER_TEMP/sqslint-comment.md" -- "${paths[@]}" > /dev/null || true
fi
exit "$code"
