#!/bin/bash
# make-base-image.sh NAME: a Debian base image with what deploy/Dockerfile needs, made with debootstrap
# from the same mirror as this machine's packages; for machines that can pull nothing. Needs root.
set -euo pipefail

name=${1:?usage: make-base-image.sh NAME}
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
if docker image inspect "$name" >/dev/null 2>&1; then exit 0; fi

# shellcheck disable=SC1091
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
packages=$(sed -n 's/^ARG RUNTIME_PACKAGES="\(.*\)"$/\1/p' "$repository/deploy/Dockerfile")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
if ! debootstrap --variant=minbase --include="${packages// /,}" "$codename" "$root" >"$root.log" 2>&1; then
  tail -n 20 "$root.log" >&2
  exit 1
fi
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root.log"
tar -C "$root" -c . | docker import - "$name" >/dev/null
