#!/usr/bin/env bash
# A function has at most 70 lines, unless the comment right above it gives a reason:
#
#   // Longer than 70 lines: a table, one row per workload.
#
# Prints each longer function without a reason, and each reason above a function that is not longer. Exits with 1 if it
# finds one.
#
#   tools/check_functions.sh [ROOT]     ROOT: a source tree, by default the one that holds this script
#
# The script relies on the indentation of clang-format: a function begins and ends in the same column, 0 or that of the
# members of its class, and everything between is further to the right.
set -u
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
[ -d "$root/src" ] || { echo "$0: $root has no src/" >&2; exit 2; }
cd "$root" || exit 2

files() {
  local top
  for top in src include bench tools tests examples; do
    if [ -d "$top" ]; then find "$top" -name '*.h' -o -name '*.cc' -o -name '*.c'; fi
  done | sort
}

files | xargs -r awk '
  function complain(line, text) { print file ":" line ": " text; wrong = 1 }
  function begin_declaration() { declaration = ""; has_reason = in_braces = 0 }

  # `declaration` is a declaration up to its first brace at the end of a line.
  function is_function(before) {
    if (declaration !~ /\(/) return 0
    before = declaration
    sub(/\(.*/, "", before)
    sub(/^template <.*> /, "", before)
    return before !~ /[{]|=[^=>]/
  }
  function is_scope() {
    return declaration ~ /^(inline )?namespace[^(]*[{]$/ || declaration ~ /^extern "C" [{]$/
  }
  function is_class(text) {
    text = declaration
    gsub(/(alignas|CAMBIUM_[A-Z_]+)\([^()]*\)/, "", text)
    return text ~ /^(template <.*> )?(class|struct|union) [^()]*$/
  }
  # The declaration that begins in line `first` ends in this line.
  function end_declaration(lines) {
    lines = FNR - first + 1
    if (is_function()) {
      if (lines > 70 && !has_reason) complain(first, "a function of " lines " lines")
      if (lines <= 70 && has_reason) complain(first, "a function of " lines " lines, with a reason for more than 70")
    }
    begin_declaration()
  }
  function end_file() {
    if (in_braces || column != 0) complain(first, "found no end of this declaration")
    column = in_comment = in_macro = 0
    begin_declaration()
  }

  FNR == 1 { end_file(); file = FILENAME }
  { match($0, /[^ ]/); indent = RSTART - 1 }

  # Inside braces, up to the brace in the column of the declaration. A list of values may end before.
  in_braces {
    if (indent == column && /^ *}/) {
      if (!/^ *} catch /) end_declaration()
      next
    }
    if (is_function() || indent > column || $0 == "") next
    begin_declaration()
  }
  in_macro || /^ *#/ { in_macro = /\\$/; next }
  in_comment || /^ *\/[\/*]/ {
    if (/Longer than 70 lines: ./) has_reason = 1
    if (/^ *\/\*/) in_comment = 1
    if (/\*\//) in_comment = 0
    next
  }
  # A blank line, `private:`, and the end of a class or of a namespace.
  $0 == "" || /^ *[a-z]+:$/ { begin_declaration(); next }
  /^ *}/ && indent <= column {
    if (indent < column) column = indent
    begin_declaration()
    next
  }
  {
    code = substr($0, indent + 1)
    sub(/ +\/\/.*$/, "", code)
    if (declaration == "") first = FNR
    declaration = declaration (declaration == "" ? "" : " ") code
  }
  code ~ /[;}]$/ { end_declaration(); next }
  code !~ /[{]$/ { next }
  is_scope() { begin_declaration(); next }
  is_class() { column += 2; begin_declaration(); next }
  { in_braces = 1 }
  END { end_file(); exit wrong }' || {
  echo "check_functions: split these functions, or give or remove the reason above them." >&2
  exit 1
}
echo "check_functions: every function has at most 70 lines, or a reason beside it."
