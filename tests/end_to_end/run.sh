#!/bin/bash
# run.sh [BERTH]: all end-to-end tests against that binary. `./dev test` has made their clients ready;
# to run one test by hand see tests/README.md.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BERTH_BINARY=$(realpath "${1:-$here/../../build/release/berth}")
cd "$here"
export BERTH_BINARY AWS_EC2_METADATA_DISABLED=true
# The machine's own AWS settings have no business here.
unset AWS_ENDPOINT_URL AWS_ENDPOINT_URL_ECS AWS_PROFILE AWS_DATA_PATH

failed=0
PATH="$PWD/.venv/bin:$PATH"
.venv/bin/python -m pytest -q --durations=10 . || failed=1
node --test --test-reporter=spec javascript/*.test.mjs || failed=1
exit "$failed"
