#!/usr/bin/env bash
# Checks, and writes what the other steps want: a SARIF file, and what a comment on the pull request is made of.
#
# PATHS, ARGUMENTS   inputs, separated by spaces or line breaks
# SARIF              the file to write; none where it is empty
# COMMENT            `true` to compare with BASE, the commit that the pull request is to be merged into
set -euo pipefail

sqslint="$RUNNER_TEMP/sqslint/bin/sqslint"
# At the end of the text there is no further one, which `read` calls a failure.
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
  # The tree before, judged by the same program with the same arguments, beside the one that is checked out.
  before="$RUNNER_TEMP/sqslint-before"
  rm -rf "$before"
  git cat-file -e "$BASE^{commit}" 2> /dev/null || git fetch --quiet --depth=1 origin "$BASE"
  git worktree add --quiet --detach "$before" "$BASE"
  here=$(git rev-parse --show-prefix)
  if cd "$before/$here" 2> /dev/null; then
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
