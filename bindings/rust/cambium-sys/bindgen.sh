#!/usr/bin/env bash
# Makes src/bindings.rs from c.h. Needs bindgen 0.72 (`cargo install bindgen-cli --version 0.72.1`) and libclang.
#
#   bash bindgen.sh          writes src/bindings.rs
#   bash bindgen.sh --check  fails if src/bindings.rs is not what would be written
#
# C-unwind: a function that has no errptr may throw std::bad_alloc. With that ABI the exception ends the program, as
# c.h says; with "C" the behaviour would be undefined. Callbacks have the ABI "C"; bindgen gives C-unwind to those that
# have a typedef, and sed changes it back.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
header=${CAMBIUM_HEADER:-$here/../../../include/cambium/c.h}
target=$here/src/bindings.rs

make_bindings() {
  echo "// Made by bindgen.sh from include/cambium/c.h. Do not edit."
  echo
  bindgen "$header" \
    --allowlist-function 'cambium_.*' --allowlist-type 'cambium_.*' --allowlist-var '(cambium|CAMBIUM)_.*' \
    --override-abi 'cambium_.*=C-unwind' \
    --default-enum-style consts --no-prepend-enum-name \
    --use-core --rust-edition 2024 --rust-target 1.85 --formatter prettyplease |
    sed '/^pub type cambium_/,/;$/ s/extern "C-unwind" fn/extern "C" fn/'
}

if [ "${1:-}" = --check ]; then
  make_bindings | diff -u "$target" - || { echo "bindgen.sh: src/bindings.rs is not that of c.h" >&2; exit 1; }
  echo "bindgen.sh: src/bindings.rs is that of c.h."
else
  make_bindings >"$target.new"
  mv "$target.new" "$target"
fi
