# The front door.  Everything real happens in CMake presets (CMakePresets.json) and in scripts/;
# `make help` lists what there is.

PREFIX ?= /usr/local
PROMPT ?= Explain in three sentences why memory bandwidth limits how fast a language model answers.
FUZZ_SECONDS ?= 60
export FUZZ_SECONDS
# The compiler's cache serves every clone on this machine.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

HWTV  := build/release/hwtv
MODEL := SmolLM2-135M-Instruct.Q4_1.gguf
# One writer at a time: a second make in the same tree waits instead of colliding.
LOCKED := flock build/.lock

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help demo build test install peer acceptance fuzz format clean packages model peer-source all

help: ## this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  Variables: PROMPT=... (demo)  PREFIX=/usr/local DESTDIR= (install)  FUZZ_SECONDS=60 (fuzz)"

demo: build model ## install what is missing, build, fetch a small model, answer a prompt with its account
	@$(HWTV) run $(MODEL) -p "$(PROMPT)"

build: build/release/build.ninja ## build the program: build/release/hwtv
	@$(LOCKED) cmake --build --preset release --target hwtv

test: packages-test model peer-source all ## everything quick and deterministic
	@ctest --preset all --parallel $$(nproc) --timeout 600

install: build ## copy program, man page and completions to $(DESTDIR)$(PREFIX)
	@$(LOCKED) cmake --build --preset release --target shop
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

peer: packages-test peer-source ## build the peer's own tools (llama.cpp), which some checks compare with
	@scripts/build_peer.sh

peer-source: ## fetch the peer's source package: its cases and templates serve the tests
	@scripts/fetch_peer.sh

acceptance: all model ## every promise, one PASS or FAIL line each: tests/acceptance/*
	@scripts/acceptance.sh

acceptance-%: all model
	@scripts/acceptance.sh $*
acceptance acceptance-run acceptance-speed: packages-acceptance peer

fuzz: packages-ci build/fuzz/build.ninja ## run every fuzzer for FUZZ_SECONDS
	@$(LOCKED) cmake --build --preset fuzz --target fuzzers
	@scripts/fuzz.sh

format: ## clang-format over src/ and tests/
	@git ls-files 'src/*.h' 'src/*.cc' 'tests/*.h' 'tests/*.cc' | xargs clang-format -i

clean: ## remove build/ (the cache of models and the peer stays)
	@rm -rf build

# The steps behind the names above.

all: build/release/build.ninja
	@$(LOCKED) cmake --build --preset release

model:
	@scripts/fetch_model.sh


packages-%:
	@scripts/install_packages.sh build $*

packages:
	@scripts/install_packages.sh build

build/%/build.ninja: CMakePresets.json | packages
	@mkdir -p build && $(LOCKED) cmake --preset $*
