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

# configure_and_build [FLAG]...: in release, with every instruction set of this machine less FLAGs.
configure_and_build() {
  cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \
    -DCMAKE_C_FLAGS="$*" -DCMAKE_CXX_FLAGS="$*" \
    -DLLAMA_CURL=OFF -DLLAMA_OPENSSL=OFF -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_TESTS=OFF \
    -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=ON -DLLAMA_BUILD_UI=OFF > /dev/null
  cmake --build "$build" --target "${tools[@]}"
}
# Whether the tools live through a prompt of the demo model: on some virtual machines the CPU offers
# AMX and the peer's use of it ends with an illegal instruction.
runs() {
  "$(dirname "$0")/fetch_model.sh" > /dev/null
  "$build/bin/llama-bench" -m "$cache"/models/SmolLM2-135M-Instruct.Q4_1.gguf -p 64 -n 1 -r 1 \
    > /dev/null 2>&1
}

lock peer-build
built && [ -e "$build/runs" ] && exit 0
echo "Building the peer's tools in $build (about 12 minutes on 2 cores) ..."
built || configure_and_build
if ! runs; then
  echo "The peer does not survive this machine's AMX: building it without ..."
  configure_and_build -mno-amx-tile -mno-amx-int8 -mno-amx-bf16
  runs
fi
touch "$build/runs"
