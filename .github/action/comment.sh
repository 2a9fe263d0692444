#!/usr/bin/env bash
# Maintains one comment on the pull request that lists new, fixed and remaining findings.
#
# REPOSITORY, NUMBER   the pull request
# GH_TOKEN             a token with write access to it
set -euo pipefail

head="$RUNNER_TEMP/sqslint-head.json"
base="$RUNNER_TEMP/sqslint-base.json"
body="$RUNNER_TEMP/sqslint-comment.md"
mark='<!-- sqslint -->'

if [ ! -s "$head" ]; then
  echo "sqslint: no report was written, so there is nothing to comment"
  exit 0
fi
if [ ! -s "$base" ]; then
  echo '{"findings": []}' > "$base"
fi

# Findings are compared by fingerprint; duplicates count separately. Text from files is shown as code, and escaped so
# that it cannot end the code span. GitHub rejects comments of more than 65,536 characters, so each of the three tables
# has at most 20,000 bytes of rows.
jq --raw-output --null-input --slurpfile head "$head" --slurpfile base "$base" --arg mark "$mark" '
  def code: "`" + (tostring | gsub("[`\n\r]"; " ") | gsub("\\|"; "¦")) + "`";
  def plain: gsub("[\n\r]"; " ") | gsub("`(?<name>[^`]*)`"; "\u0001\(.name)\u0002")
    | gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub(">"; "&gt;") | gsub("(?<c>[\\\\`*_{}\\[\\]|~!$])"; "\\\(.c)")
    | gsub("(?<c>[@#])"; "\(.c)<!-- -->") | gsub("://"; ":<!-- -->//") | gsub("[\u0001\u0002]"; "");
  def without($others): reduce $others[] as $other ([., []];
      (.[0] | map(.fingerprint) | index($other.fingerprint)) as $at
      | if $at == null then . else .[0] |= del(.[$at]) end) | .[0];
  def fitting: reduce .[] as $row ({rows: [], bytes: 0};
      ($row | utf8bytelength) as $size
      | if .bytes + $size > 20000 or (.rows | length) == 50 then . else {rows: (.rows + [$row]), bytes: (.bytes + $size)} end)
    | .rows;
  def table($title): if length == 0 then "" else
      (map("| \(.severity) | \(.rule | code) | \("\(.file):\(.line)" | code) | \(.message | plain) |\n") | fitting) as $rows |
      "\n<details\(if $title == "New" then " open" else "" end)><summary>\($title): \(length)</summary>\n\n"
      + "| severity | rule | place | finding |\n| --- | --- | --- | --- |\n"
      + ($rows | add // "")
      + (if length > ($rows | length) then "\nand \(length - ($rows | length)) more\n" else "" end) + "\n</details>\n" end;
  $head[0].findings as $now | $base[0].findings as $old
  | ($now | without($old)) as $new | ($old | without($now)) as $fixed
  | ($now | without($new)) as $left
  | if ($now + $fixed | length) == 0 then "" else
      "\($mark)\n## sqslint\n\n**\($new | length) new**, \($fixed | length) fixed, \($left | length) remaining\n"
      + ($new | table("New")) + ($fixed | table("Fixed")) + ($left | table("Remaining")) end
' > "$body"

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
  printf '%s\n## sqslint\n\nNothing is left to find.\n' "$mark" > "$body"
fi
if [ -n "$known" ]; then
  to=(--method PATCH "repos/$REPOSITORY/issues/comments/$known")
else
  to=(--method POST "repos/$REPOSITORY/issues/$NUMBER/comments")
fi
# The token of a pull request from a fork has no write access, which must not fail the run.
gh api --silent "${to[@]}" --field "body=@$body" || echo "::warning::sqslint: the comment could not be written"
