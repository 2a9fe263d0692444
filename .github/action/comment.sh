#!/usr/bin/env bash
# Maintains one comment on the pull request that says what the change does to queues and functions.
#
# REPOSITORY, NUMBER   the pull request
# GH_TOKEN             a token with write access to it
set -euo pipefail

body="$RUNNER_TEMP/sqslint-comment.md"
mark='<!-- sqslint -->'

if [ ! -e "$body" ]; then
  echo "sqslint: no report was written, so there is nothing to comment"
  exit 0
fi

# Anyone may write a comment with the mark. Only one by the account of the token is updated; the token of a workflow may
# not ask for its account.
author=$(gh api graphql --raw-field 'query={viewer{login}}' --jq .data.viewer.login 2> /dev/null) || author=
known=$(gh api --paginate "repos/$REPOSITORY/issues/$NUMBER/comments" \
  | jq --raw-output --null-input --arg mark "$mark" --arg author "${author:-github-actions[bot]}" '
    def is_own: .user.login == $author or (.user.type == "Bot" and .user.login == $author + "[bot]");
    [inputs[] | select(is_own and (.body | startswith($mark))) | .id][0] // empty')
if [ -z "$(tr -d '[:space:]' < "$body")" ]; then
  if [ -z "$known" ]; then
    exit 0
  fi
  printf '%s\n## sqslint\n\nThis change does nothing to a queue or its functions.\n' "$mark" > "$body"
fi
if [ -n "$known" ]; then
  to=(--method PATCH "repos/$REPOSITORY/issues/comments/$known")
else
  to=(--method POST "repos/$REPOSITORY/issues/$NUMBER/comments")
fi
# The token of a pull request from a fork has no write access, which must not fail the run.
gh api --silent "${to[@]}" --field "body=@$body" || echo "::warning::sqslint: the comment could not be written"
