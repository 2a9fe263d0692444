#!/usr/bin/env bash
# Installs sqslint in $RUNNER_TEMP/sqslint/bin: a release's binary, verified by checksum, or one compiled from source.
#
# VERSION      the release, without `v`; by default the version of the action
# SHA256       the expected checksum of the archive; by default from the release's SHA256SUMS
# REPOSITORY   the action's repository; empty if the action is in the workflow's own repository, which has no releases
set -euo pipefail

bin="$RUNNER_TEMP/sqslint/bin"
mkdir -p "$bin"

compile() {
  echo "sqslint: $1; compiling it, which takes about ten minutes"
  cargo install --locked --quiet --path "$GITHUB_ACTION_PATH" --root "$RUNNER_TEMP/sqslint"
  exit
}

own=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$GITHUB_ACTION_PATH/Cargo.toml" | head -n 1)
version="${VERSION:-$own}"
case "${RUNNER_OS:-}/${RUNNER_ARCH:-}" in
  Linux/X64) target=x86_64-unknown-linux-musl ;;
  Linux/ARM64) target=aarch64-unknown-linux-musl ;;
  macOS/ARM64) target=aarch64-apple-darwin ;;
  macOS/X64) target=x86_64-apple-darwin ;;
  Windows/X64) target=x86_64-pc-windows-msvc ;;
  *) compile "no binary exists for ${RUNNER_OS:-this system} on ${RUNNER_ARCH:-this processor}" ;;
esac
if [ -z "${REPOSITORY:-}" ]; then
  compile "the action does not belong to a release"
fi

name="sqslint-v$version-$target"
from="${GITHUB_SERVER_URL:-https://github.com}/$REPOSITORY/releases/download/v$version"
work=$(mktemp -d "$RUNNER_TEMP/sqslint-XXXXXX")
trap 'rm -rf "$work"' EXIT

# Exit code 22 is an HTTP error such as 404; any other code means that the request failed.
download() {
  local code=0
  curl --fail --silent --show-error --location --proto '=https' --retry 3 --output "$work/$1" "$from/$1" || code=$?
  if [ "$code" -eq 22 ]; then
    if [ -n "${VERSION:-}" ]; then
      echo "::error::sqslint: release v$version does not exist or does not contain $1"
      exit 1
    fi
    compile "v$version is not released for $target"
  elif [ "$code" -ne 0 ]; then
    echo "::error::sqslint: cannot download $from/$1"
    exit 1
  fi
}

download "$name.tar.gz"
expected="${SHA256:-}"
if [ -z "$expected" ]; then
  download SHA256SUMS
  expected=$(awk -v file="$name.tar.gz" '$2 == file || $2 == "*" file { print $1 }' "$work/SHA256SUMS")
fi
if command -v sha256sum > /dev/null; then
  actual=$(sha256sum "$work/$name.tar.gz" | cut -d ' ' -f 1)
else
  actual=$(shasum -a 256 "$work/$name.tar.gz" | cut -d ' ' -f 1)
fi
if [ -z "$expected" ] || [ "$actual" != "$expected" ]; then
  echo "::error::sqslint: the checksum of $name.tar.gz is $actual, expected ${expected:-an entry in SHA256SUMS}"
  exit 1
fi
tar -xzf "$work/$name.tar.gz" -C "$work"
mv "$work/$name"/sqslint* "$bin/" 2> /dev/null || true
if [ ! -x "$bin/sqslint" ] && [ ! -x "$bin/sqslint.exe" ]; then
  echo "::error::sqslint: $name.tar.gz does not contain the program"
  exit 1
fi
echo "sqslint: v$version for $target"
