#!/usr/bin/env bash
# install_packages.sh GROUP...: installs the Debian packages of those groups of packages.txt that
# are missing.  Where nothing is missing it prints nothing and needs neither root nor network.
set -euo pipefail
list=$(dirname "$0")/packages.txt
wanted=$(awk -v groups=" $* " '!/^#/ && index(groups, " " $1 " ") { print $2 }' "$list")

if ! command -v dpkg-query > /dev/null; then
  echo "This is not a Debian system: install by hand what scripts/packages.txt lists." >&2
  exit 0
fi

missing() {
  dpkg-query -W -f '${db:Status-Status} ${Package}\n' | awk -v wanted="$wanted" '
    $1 == "installed" { have[$2] = 1 }
    END {
      n = split(wanted, name, "\n")
      for (i = 1; i <= n; i++) if (!(name[i] in have)) print name[i]
    }'
}

needed=$(missing)
[ -n "$needed" ] || exit 0

echo "Missing Debian packages, and what each is for:"
for package in $needed; do
  awk -v package="$package" '$1 != "aarch64" && $2 == package {
    $1 = $2 = ""; sub(/^ +/, ""); printf "  %-24s %s\n", package, $0 }' "$list"
done

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "Not root, and no sudo here.  As root: apt-get install --no-install-recommends" $needed >&2
    exit 1
  fi
  as_root=(sudo)
  echo "Installing them takes root: sudo may ask for your password."
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 \
    -o Dpkg::Use-Pty=0 "$@"
}
exec 9> "${TMPDIR:-/tmp}/hwtv-packages-$(id -u).lock"
flock 9
if ! { apt update && apt install --no-install-recommends -y $needed > /dev/null; }; then
  echo "The packages could not be installed.  With a network, try: apt-get install" $needed >&2
  exit 1
fi
left=$(missing)
[ -z "$left" ] || { echo "Still missing after the installation:" $left >&2; exit 1; }
echo "Installed."
