# Sourced by the scripts that fetch things: where the cache is, its locks, and pip.
cache=${HWTV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/hwtv}

# Debian's own Python, where there is one: its packages (numpy, jinja2) are the ones we install.
python=/usr/bin/python3
[ -x $python ] || python=python3

# lock NAME: until this script ends, any other that asks for the same lock waits.
lock() {
  mkdir -p "$cache"
  exec 8> "$cache/.$1.lock"
  flock 8
}

# pip_download FOLDER ARGUMENT...: one package into FOLDER, without what it depends on.
pip_download() {
  local folder=$1
  shift
  "$python" -m pip --disable-pip-version-check download --quiet --no-deps --dest "$folder" "$@"
}
