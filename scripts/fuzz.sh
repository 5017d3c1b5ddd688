#!/usr/bin/env bash
# Runs every fuzzer of build/fuzz for FUZZ_SECONDS each, one per core at a time.  What they learn
# stays in the cache; what they find goes to build/fuzz/findings.
set -euo pipefail
. "$(dirname "$0")/cache.sh"
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
findings=$PWD/build/fuzz/findings
mkdir -p "$findings"

# fuzz PROGRAM: its seeds are the files of tests/*/NAME_seeds and those that NAME_bad_files writes,
# where there are such.
fuzz() {
  local program=$1 name log inputs
  name=$(basename "$program")
  name=${name#fuzz_}
  log=$findings/$name.log
  mkdir -p "$cache/fuzz/$name"
  local seeds=(tests/*/"${name}"_seeds)
  [ -d "${seeds[0]}" ] || seeds=()
  local writer
  writer=$(find build/fuzz -name "${name}_bad_files" -type f -executable)
  if [ -n "$writer" ]; then
    "$writer" "$findings/$name-seeds"
    seeds+=("$findings/$name-seeds")
  fi
  if "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -artifact_prefix="$findings/$name-" -print_final_stats=1 "$cache/fuzz/$name" "${seeds[@]}" \
    > "$log" 2>&1; then
    inputs=$(awk '/number_of_executed_units/ { print $2 }' "$log")
    echo "fuzz $name: found nothing in $seconds s, $inputs inputs"
  else
    tail -40 "$log"
    echo "fuzz $name: FOUND SOMETHING, see $log"
    return 1
  fi
}

programs=$(find build/fuzz -name 'fuzz_*' -type f -executable | sort)
[ -n "$programs" ] || { echo "No fuzzer was built." >&2; exit 1; }
failed=0
running=()
for program in $programs; do
  fuzz "$program" &
  running+=($!)
  if [ ${#running[@]} -ge "$(nproc)" ]; then
    wait "${running[0]}" || failed=1
    running=("${running[@]:1}")
  fi
done
for job in "${running[@]}"; do wait "$job" || failed=1; done
exit $failed
