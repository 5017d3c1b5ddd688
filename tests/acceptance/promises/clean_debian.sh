#!/usr/bin/env bash
# On a new Debian 12 that has git and make and reaches the package registries: `make demo` ends with
# an answer in under 10 minutes, `make test` passes in under 25, `.ci/run` in under 60, all on 2
# cores; and a second `make demo` needs no network and ends within half a minute.
#
# clean_debian.sh [demo|again|test|ci]...: those checks, one after the other in one new system; all
# where none is named.  Needs root and debootstrap.  The folder HWTV_CLEAN_DEBIAN (about 8 GB) keeps
# the bare system for the next time; what is cloned is this repository's HEAD.
set -euo pipefail
cd "$(dirname "$0")/../../.."
place=${HWTV_CLEAN_DEBIAN:-/var/tmp/hwtv-clean-debian}
system=$place/system
checks=("$@")
[ $# -gt 0 ] || checks=(demo again test ci)

if [ "$(id -u)" != 0 ] || ! command -v debootstrap > /dev/null; then
  echo "FAIL clean_debian: not run, it needs root and debootstrap (apt-get install debootstrap)"
  exit 1
fi

leave() {
  for mount in dev sys proc; do
    ! mountpoint -q "$system/$mount" || umount --recursive "$system/$mount"
  done
}

make_system() {
  leave
  rm -rf "$system"
  mkdir -p "$system"
  if [ ! -s "$place/base.tar.gz" ]; then
    local mirror
    mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' |
      awk '$1 == "bookworm" { print $2; exit }')
    rm -rf "$place/base"
    debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$place/base" \
      "${mirror:?this host knows no bookworm}" > "$place/debootstrap.log"
    tar -C "$place/base" -czf "$place/base.tar.gz.part" .
    mv "$place/base.tar.gz.part" "$place/base.tar.gz"
    rm -rf "$place/base"
  fi
  tar -C "$system" -xzf "$place/base.tar.gz"
  # The way to the registries is this host's: where apt and pip look, and whom they trust.
  rm -rf "$system"/etc/apt/{sources.list,sources.list.d,apt.conf.d}
  cp -a /etc/apt/{sources.list.d,apt.conf.d} "$system/etc/apt/"
  for file in /etc/apt/sources.list /etc/pip.conf "$HOME/.config/pip" /etc/resolv.conf /etc/hosts
  do
    [ ! -e "$file" ] || { mkdir -p "$system$(dirname "$file")" && cp -aL "$file" "$system$file"; }
  done
  cp -a /usr/share/keyrings/. "$system/usr/share/keyrings/"
  cp -a /usr/local/share/ca-certificates/. "$system/usr/local/share/ca-certificates/"
  chroot "$system" update-ca-certificates > /dev/null 2>&1
  mkdir -p "$system$HOME"
  git clone -q --no-hardlinks . "$system$HOME/hwtv"
  mount -t proc proc "$system/proc"
  mount --rbind /sys "$system/sys" && mount --make-rslave "$system/sys"
  mount --rbind /dev "$system/dev" && mount --make-rslave "$system/dev"
}

# inside COMMAND: in the clone, on two cores, with this host's settings for the registries alone.
inside() {
  local settings
  mapfile -t settings < <(env | grep -E "^(PIP_|SSL_|[A-Z_]+_BUNDLE=|[a-z]+_proxy=|[A-Z]+_PROXY=)")
  env -i "${settings[@]}" HOME="$HOME" PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    CI="${CI:-}" taskset -c 0,1 "${without_network[@]}" \
    chroot "$system" bash -c "cd ~/hwtv && $1" < /dev/null
}

# check NAME LIMIT_S COMMAND: one line, PASS or FAIL.
check() {
  local begin=$SECONDS took verdict=PASS log=$place/$1.log
  inside "$3" > "$log" 2>&1 || verdict=FAIL
  took=$((SECONDS - begin))
  [ $took -le "$2" ] || verdict=FAIL
  echo "$verdict clean_debian $1: $took s, target under $2 s ($log)"
  [ $verdict = PASS ] || { tail -40 "$log"; failed=1; }
}

trap leave EXIT
mkdir -p "$place"
failed=0
without_network=()
make_system
for name in "${checks[@]}"; do
  case $name in
    demo) check demo 600 "make demo" ;;
    again)
      without_network=(unshare --net)
      check again 30 "make demo"
      without_network=()
      ;;
    test) check test 1500 "make test" ;;
    ci) CI=true check ci 3600 "bash .ci/run" ;;
    *) echo "no such check: $name" >&2; exit 2 ;;
  esac
done
exit $failed
