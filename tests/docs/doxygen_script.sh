#!/usr/bin/env bash
# Makes the reference of the public headers with warnings as errors, and checks that it contains some of their comments.
set -u
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! command -v doxygen >/dev/null; then
  # Doxygen needs 200 MB of packages, LLVM among them, so install_deps.sh does not install it.
  echo "SKIPPED: the reference is not made (doxygen is not installed)"
  exit 0
fi
cd "$root" || exit 2
OUTPUT=$work VERSION=1.2.3 doxygen docs/Doxyfile || { echo "doxygen_script: doxygen has warned" >&2; exit 1; }

failed=0
expect() {  # page, text that must be on it
  sed 's/<[^>]*>//g' "$work/html/$1" | grep -F -- "$2" >/dev/null || { echo "doxygen_script: $1 does not say \"$2\"" >&2; failed=1; }
}
expect classcambium_1_1DB.html 'Never null; errors show in status()'                 # above a function
expect structcambium_1_1DBOptions.html 'if false, a missing database is'             # after a member
expect listener_8h.html 'EventListener: receives a call for each event of a database'  # of a file
expect listener_8h.html 'OnXxxBegin is followed by its OnXxxCompleted'              # a table
if grep -rlF '///' "$work"/html/*.html; then
  echo "doxygen_script: these pages show the marks of comments" >&2
  failed=1
fi
exit "$failed"
