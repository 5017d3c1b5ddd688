#!/usr/bin/env bash
# install_test.sh BUILD: what `make install` puts where, and that it works from there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cmake --build "$1" --target shop > /dev/null
DESTDIR=$folder cmake --install "$1" --prefix /usr > /dev/null
share=$folder/usr/share

version=$("$folder/usr/bin/hwtv" --version)
[[ $version == "hwtv "* ]] || { echo "FAILED: --version says: $version"; exit 1; }

for page in "hwtv run" "hwtv devices" "EXIT STATUS" "FILES" ; do
  grep -q "$page" "$share/man/man1/hwtv.1" || { echo "FAILED: no \"$page\" in the page"; exit 1; }
done

# complete WORD...: what bash would offer for the last word.
complete_words() {
  bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hwtv; echo "${COMPREPLY[@]}"' \
    "$share/bash-completion/completions/hwtv" "$@"
}
[ "$(complete_words hwtv perp)" = perplexity ] || { echo "FAILED: hwtv perp<TAB>"; exit 1; }
[ "$(complete_words hwtv run --see)" = --seed ] || { echo "FAILED: hwtv run --see<TAB>"; exit 1; }

grep -q '^#compdef hwtv' "$share/zsh/site-functions/_hwtv"
grep -q -- '-l seed' "$share/fish/vendor_completions.d/hwtv.fish"
