#!/usr/bin/env bash
# Unpacks the peer into the cache: the source package llama-cpp-python, which carries llama.cpp with
# its tools, its converter, tokenizer cases and chat templates.  Tests use these files by path.
set -euo pipefail
. "$(dirname "$0")/cache.sh"

version=0.3.36
sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
name=llama_cpp_python-$version
target=$cache/peer/$name

lock peer
# The folder gets its name only when it is whole.
[ -e "$target/vendor/llama.cpp/convert_hf_to_gguf.py" ] && exit 0
echo "Fetching the peer's source package, llama-cpp-python $version, 77 MB, into $cache/peer ..."
mkdir -p "$cache/peer"
rm -rf "$cache"/peer/.fetch.*
fresh=$(mktemp -d "$cache/peer/.fetch.XXXXXX")
trap 'rm -rf "$fresh"' EXIT
# Only this one package as source: pip asks a source package for its metadata, and the tools that
# takes arrive as wheels within seconds.
if ! pip_download "$fresh" --no-binary llama-cpp-python llama-cpp-python==$version; then
  echo "The peer's source package could not be fetched: is there a network?" >&2
  echo "Only tests need it: make demo and make build work without." >&2
  exit 1
fi
if ! echo "$sha256  $fresh/$name.tar.gz" | sha256sum --check --status; then
  echo "The fetched package is not the expected file, SHA-256 $sha256." >&2
  echo "Nothing of it was kept.  Try again; if it stays so, the package has changed." >&2
  exit 1
fi
tar -xzf "$fresh/$name.tar.gz" -C "$fresh"
rm -rf "$target"
mv "$fresh/$name" "$target"
