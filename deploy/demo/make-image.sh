#!/bin/bash
# make-image.sh NAME: a small image out of this machine's static busybox, so that the demo and the
# tests need no registry. Makes nothing when an image of that name was made of the same busybox. Says
# nothing when it worked.
set -euo pipefail

name=${1:?usage: make-image.sh NAME}
busybox=$(command -v busybox || true)
if [ -z "$busybox" ] || ldd "$busybox" >/dev/null 2>&1; then
  echo "make-image.sh: needs a static busybox (package busybox-static)" >&2
  exit 1
fi
made_of=$(sha256sum <"$busybox" | cut -d' ' -f1)
there=$(docker image inspect --format '{{index .Config.Labels "berth.busybox"}}' "$name" 2>/dev/null || true)
[ "$there" != "$made_of" ] || exit 0

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/etc" "$root/tmp"
cp "$busybox" "$root/bin/busybox"
for applet in $("$busybox" --list); do
  [ "$applet" = busybox ] || ln -sf busybox "$root/bin/$applet"
done
echo 'root:x:0:0:root:/:/bin/sh' > "$root/etc/passwd"
tar -C "$root" -c . |
  docker import --change 'ENV PATH=/bin' --change 'CMD ["sh"]' --change "LABEL berth.busybox=$made_of" \
    - "$name" >/dev/null
