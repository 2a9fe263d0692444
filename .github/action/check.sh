#!/usr/bin/env bash
# Runs the check, and writes the inputs of the other steps: a SARIF file, and JSON reports for the comment.
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
if [ "${COMMENT:-}" = true ]; then
  reports+=(--report "json=$RUNNER_TEMP/sqslint-head.json")
fi

code=0
"$sqslint" check "${arguments[@]}" "${reports[@]}" -- "${paths[@]}" || code=$?

if [ "${COMMENT:-}" = true ] && [ -n "${BASE:-}" ]; then
  # Checks the target commit in a separate worktree, with the same program and arguments.
  before="$RUNNER_TEMP/sqslint-before"
  rm -rf -- "$before"
  git cat-file -e "$BASE^{commit}" 2> /dev/null || git fetch --quiet --depth=1 origin "$BASE"
  git worktree add --quiet --detach "$before" "$BASE"
  here=$(git rev-parse --show-prefix)
  if cd -- "$before/$here" 2> /dev/null; then
    kept=()
    for path in "${paths[@]}"; do
      if [ -e "$path" ]; then kept+=("$path"); fi
    done
    "$sqslint" check --allow-empty --exit-zero "${arguments[@]}" --format json -- "${kept[@]:-.}" \
      > "$RUNNER_TEMP/sqslint-base.json" 2> /dev/null || true
    cd - > /dev/null
  fi
  git worktree remove --force "$before"
fi
exit "$code"
