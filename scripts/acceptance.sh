#!/usr/bin/env bash
# acceptance.sh [NAME]: runs tests/acceptance/NAME.*, or all of them.  Each prints one line per
# promise: PASS or FAIL, the figure, the target.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/cache.sh
failed=0
found=0
for check in tests/acceptance/${1:-*}.{sh,py}; do
  [ -f "$check" ] || continue
  found=1
  case "$check" in
    *.py) "$python" "$check" || failed=1 ;;
    *.sh) bash "$check" || failed=1 ;;
  esac
done
[ $found = 1 ] || { echo "No check of that name in tests/acceptance." >&2; exit 2; }
exit $failed
