#!/bin/bash
# run.sh [BERTH]: brings docker-compose.yml up and runs the demo's task through it, with every Compose
# that is here: docker-compose (v1) and `docker compose` (v2). Tears everything down again.
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$repository"

BASE_IMAGE_NAME=berth-test/base:local
PULL_SECONDS=20
READY_SECONDS=60

berth=$(realpath "${1:-build/release/berth}")
if [ "$berth" != "$repository/build/release/berth" ]; then
  mkdir -p build/release && cp "$berth" build/release/berth
fi

# Whether the image that deploy/Dockerfile names can be had; else one is made.
choose_base_image() {
  local named
  named=$(sed -n 's/^ARG BASE_IMAGE=//p' deploy/Dockerfile)
  if docker image inspect "$named" >/dev/null 2>&1 ||
    timeout "$PULL_SECONDS" docker pull -q "$named" >/dev/null 2>&1; then
    echo "$named"
  else
    echo "compose: $named cannot be pulled: making a base image with debootstrap" >&2
    tests/compose/make-base-image.sh "$BASE_IMAGE_NAME"
    echo "$BASE_IMAGE_NAME"
  fi
}

free_port() {
  /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

access=$(mktemp -d)
trap 'rm -rf "$access"' EXIT

compose=()
bring_down() {
  trap 'rm -rf "$access"' EXIT
  "${compose[@]}" logs --no-color >build/compose.log 2>&1 || true
  "${compose[@]}" down -v --timeout 10 >/dev/null 2>&1 || true
  deploy/demo/remove-containers.sh "$BERTH_CLUSTER"
}

# run_demo COMPOSE...: up, the demo, down.
run_demo() {
  compose=("$@")
  echo "compose: $("${compose[@]}" version --short 2>/dev/null || echo "${compose[*]}")"
  BERTH_PORT=$(free_port)
  export BERTH_PORT
  trap 'bring_down; rm -rf "$access"' EXIT
  "${compose[@]}" up -d --build >build/compose-up.log 2>&1 || {
    tail -n 30 build/compose-up.log >&2
    return 1
  }
  local second
  for second in $(seq "$READY_SECONDS"); do
    take_access && curl_readyz && break
    [ "$second" -lt "$READY_SECONDS" ] || { echo "compose: not ready after $second s" >&2; return 1; }
    sleep 1
  done
  AWS_DATA_PATH="$repository/clients/botocore" AWS_CA_BUNDLE="$access/ca.pem" \
    AWS_ACCESS_KEY_ID=$(setting aws_access_key_id) \
    AWS_SECRET_ACCESS_KEY=$(setting aws_secret_access_key) \
    /usr/bin/python3 deploy/demo/demo.py "https://127.0.0.1:$BERTH_PORT" --once
  bring_down
}

# What a user takes from the server once: whom to trust, and an admin's key.
take_access() {
  local file
  for file in ca.pem admin-credentials; do
    "${compose[@]}" exec -T server cat "/data/$file" >"$access/$file" 2>/dev/null || return 1
  done
}

setting() { sed -n "s/^$1 *= *//p" "$access/admin-credentials"; }

curl_readyz() {
  /usr/bin/python3 - "https://127.0.0.1:$BERTH_PORT/readyz" "$access/ca.pem" 2>/dev/null <<'EOF'
import ssl, sys, urllib.request
urllib.request.urlopen(sys.argv[1], timeout=2, context=ssl.create_default_context(cafile=sys.argv[2]))
EOF
}

export BERTH_CLUSTER=default BERTH_GPUS=simulated:1x22587 COMPOSE_PROJECT_NAME=berth-compose-test
BERTH_BASE_IMAGE=$(choose_base_image)
export BERTH_BASE_IMAGE
deploy/demo/make-image.sh berth-demo/model:latest
deploy/demo/make-image.sh berth-demo/log-router:latest

ran=0
if command -v docker-compose >/dev/null; then
  run_demo docker-compose
  ran=$((ran + 1))
fi
if docker compose version >/dev/null 2>&1; then
  run_demo docker compose
  ran=$((ran + 1))
fi
if [ "$ran" -eq 0 ]; then
  echo "compose: neither docker-compose nor docker compose is here" >&2
  exit 1
fi
echo "compose: passed with $ran of the two Composes"
