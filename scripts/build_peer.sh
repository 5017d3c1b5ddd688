#!/usr/bin/env bash
# Builds the peer's tools for this very machine, into the cache: about 12 minutes on 2 cores, and
# nothing to do where they are built already.
set -euo pipefail
. "$(dirname "$0")/cache.sh"

source=$cache/peer/llama_cpp_python-0.3.36/vendor/llama.cpp
build=$cache/peer/build
tools=(llama-quantize llama-perplexity llama-tokenize llama-bench llama-results
  llama-batched-bench llama-server)

built() { for tool in "${tools[@]}"; do [ -x "$build/bin/$tool" ] || return 1; done; }

lock peer-build
built && exit 0
echo "Building the peer's tools in $build (about 12 minutes on 2 cores) ..."
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \
  -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_TESTS=OFF \
  -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_UI=OFF > /dev/null
cmake --build "$build" --target "${tools[@]}"
