#!/usr/bin/env bash
# Makes everything that a release publishes for this machine's target, and publishes nothing: archive, wheel, source
# distribution and SHA256SUMS, in target/release-files. Takes a quarter of an hour on two cores.
#
# Needs maturin: pipx install maturin==1.16.0
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
target=$(rustc -vV | sed -n 's/^host: //p')
out="$PWD/target/release-files"
rm -rf "$out"
mkdir -p "$out"

cargo build --profile dist --locked --bin sqslint
bash .github/release/archive.sh target/dist/sqslint "$target" "$out"
maturin build --profile dist --locked --out "$out"
maturin sdist --out "$out"
(cd "$out" && sha256sum -- * > SHA256SUMS && sha256sum --check SHA256SUMS)
