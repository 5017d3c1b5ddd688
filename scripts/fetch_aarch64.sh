#!/usr/bin/env bash
# Unpacks the libraries of the cross build, Debian's own packages for arm64, into a folder of the
# cache that cmake/aarch64.cmake searches.  The system and its list of architectures stay untouched.
set -euo pipefail
. "$(dirname "$0")/cache.sh"

packages=$(awk '$1 == "aarch64" { print $2 }' "$(dirname "$0")/packages.txt")
target=$cache/aarch64

lock aarch64
[ "$(cat "$target/.packages" 2> /dev/null)" = "$packages" ] && exit 0
echo "Fetching the ARM libraries of the cross build into $target ..."
rm -rf "$cache"/.aarch64.*
fresh=$(mktemp -d "$cache/.aarch64.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
mkdir -p "$fresh/apt/lists/partial" "$fresh/apt/archives/partial" "$fresh/tree"
touch "$fresh/apt/status"

# apt with its own state: it believes in an empty ARM system and touches nothing else.
apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
    -o Dir::State="$fresh/apt" -o Dir::State::status="$fresh/apt/status" \
    -o Dir::Cache="$fresh/apt" "$@"
}
if ! { apt update && (cd "$fresh" && apt download $packages); }; then
  echo "The ARM libraries could not be fetched: is there a network?" >&2
  echo "Only the cross build needs them." >&2
  exit 1
fi
for package in "$fresh"/*.deb; do dpkg-deb -x "$package" "$fresh/tree"; done
echo "$packages" > "$fresh/tree/.packages"
chmod 755 "$fresh/tree"
rm -rf "$target"
mv "$fresh/tree" "$target"
