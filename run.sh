#!/usr/bin/env bash
# Runs the benchmarks and renders the charts; installs and builds what they need first.
# Needs an old Node with npm, and cargo for the Tokio baseline. `./run.sh --help` lists the options.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# npm writes this file at the end of an install: older than the lock file means out of date.
if [[ ! -f node_modules/.package-lock.json || package-lock.json -nt node_modules/.package-lock.json ]]; then
  echo "installing" >&2
  npm ci >&2
fi
echo "building" >&2
npm run --silent build >&2
exec node_modules/.bin/node benchmarks/run.ts "$@"
