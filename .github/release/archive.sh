#!/usr/bin/env bash
# Packs a binary with completions, manual, schemas and licences, under the name that `cargo binstall` and the action expect.
#
# usage: archive.sh BINARY TARGET OUT
#
# BINARY runs on this machine. Writes OUT/sqslint-v<version>-<TARGET>.tar.gz.
set -euo pipefail

binary=$(realpath "$1")
target=$2
mkdir -p "$3"
out=$(realpath "$3")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml")

name="sqslint-v$version-$target"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name/completions" "$work/$name/schemas"
cp "$binary" "$work/$name/"
# Under the names that each shell looks for.
"$binary" completions bash > "$work/$name/completions/sqslint.bash"
"$binary" completions zsh > "$work/$name/completions/_sqslint"
"$binary" completions fish > "$work/$name/completions/sqslint.fish"
"$binary" completions powershell > "$work/$name/completions/_sqslint.ps1"
"$binary" completions elvish > "$work/$name/completions/sqslint.elv"
"$binary" man > "$work/$name/sqslint.1"
cd "$root"
cp README.md CHANGELOG.md LICENSE-* sqslint.schema.json "$work/$name/"
cp tests/schemas/{report,record,graph,simulation}.json "$work/$name/schemas/"
tar -czf "$out/$name.tar.gz" -C "$work" "$name"
echo "$out/$name.tar.gz"
