#!/usr/bin/env bash
# docs/OPTIONS.md and the code must name the same things: every field of the option structs, and every property. The
# table of options (src/options/option_table.cc) must have a row for every field of DBOptions and ColumnFamilyOptions,
# in their order. It must mark the same options as dynamic as the document. Prints every difference, and exits with 1 if
# there is one.
#
#   tools/check_options.sh [ROOT]     ROOT: a source tree, by default the one that holds this script
#
# In the document a heading "### Struct" is followed by a table whose rows begin "| `field` |"; "### Properties" by one
# whose rows begin "| `property` |". A column "dynamic", if there is one, contains "yes" or is empty.
set -u
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
document=$root/docs/OPTIONS.md
headers=("$root/include/cambium/options.h" "$root/include/cambium/db.h" "$root/include/cambium/convenience.h"
  "$root/include/cambium/trace.h" "$root/include/cambium/async.h")
table=$root/src/options/option_table.cc
properties=$root/src/api/properties.cc
for file in "$document" "${headers[@]}" "$table" "$properties"; do
  [ -r "$file" ] || { echo "$0: cannot read $file" >&2; exit 2; }
done

# "Struct.field" for each field of each struct whose name ends in Options.
fields_in_code() {
  awk '
    { sub(/[[:space:]]*\/\/.*/, "") }
    /^struct [A-Za-z]*Options \{$/ { inside = $2; next }
    /^};/ { inside = "" }
    inside != "" && /;$/ {
      sub(/;$/, ""); sub(/[[:space:]]*=.*/, "")
      n = split($0, words, /[[:space:]*&]+/)
      print inside "." words[n]
    }' "${headers[@]}"
}
# "Struct.field" for each row of the table; if there is an argument, for each row of a dynamic option.
fields_in_table() {
  awk -v dynamic="${1:-}" '
    /^constexpr OptionField<[A-Za-z]+> / { split($0, parts, /[<>]/); inside = parts[2]; next }
    /^};/ { inside = "" }
    inside != "" && /^    \{"/ && (dynamic == "" || /kDynamic/) { split($0, parts, "\""); print inside "." parts[2] }' "$table"
}
dynamic_in_document() {
  awk -F'|' '
    /^#/ { inside = ($0 ~ /^### /) ? substr($0, 5) : ""; column = 0 }
    inside != "" && /^\| option / { for (i = 1; i <= NF; i++) if ($i ~ /^ dynamic $/) column = i }
    column > 0 && /^\| `/ && $column ~ /yes/ { split($2, parts, "`"); print inside "." parts[2] }' "$document"
}
# The rows of the table of numbers, CAMBIUM_INT_PROPERTY("name", ...) or {"name",, and the names that functions compare.
properties_in_code() {
  grep -oE '^    CAMBIUM_INT_PROPERTY\("[a-z-]+"|^    \{"[a-z-]+",|name (==|!=) "[a-z-]+"' "$properties" |
    sed 's/[^"]*"\([^"]*\)".*/Properties.\1/'
  # The document has <N> in place of a number at the end of a property.
  sed -nE 's/.*string_view k[A-Za-z]*AtLevel = "([a-z-]+)".*/Properties.\1<N>/p' "$properties"
}
in_document() {
  awk '
    /^#/ { inside = ($1 == "###" && $2 ~ /(Options|Properties)$/) ? $2 : "" }
    inside != "" && /^\| `/ { split($0, parts, "`"); print inside "." parts[2] }' "$document"
}

code=$( { fields_in_code; properties_in_code; } | sort -u)
described=$(in_document | sort -u)
only_code=$(comm -23 <(echo "$code") <(echo "$described"))
only_document=$(comm -13 <(echo "$code") <(echo "$described"))
[ -z "$only_code" ] || printf 'check_options: not in docs/OPTIONS.md:\n%s\n' "$only_code" >&2
[ -z "$only_document" ] || printf 'check_options: in docs/OPTIONS.md, but not in the code:\n%s\n' "$only_document" >&2
fields=$(fields_in_code | grep -E '^(DBOptions|ColumnFamilyOptions)\.' | sort -s -t. -k1,1)
rows=$(fields_in_table | sort -s -t. -k1,1)
row_differences=$(diff <(echo "$fields") <(echo "$rows"))
[ -z "$row_differences" ] || printf 'check_options: fields (<) and rows of option_table.cc (>) differ:\n%s\n' "$row_differences" >&2
dynamic_differences=$(diff <(dynamic_in_document | sort) <(fields_in_table dynamic | sort))
[ -z "$dynamic_differences" ] ||
  printf 'check_options: dynamic in docs/OPTIONS.md (<) and in option_table.cc (>) differ:\n%s\n' "$dynamic_differences" >&2
[ -z "$only_code$only_document$row_differences$dynamic_differences" ] || exit 1
echo "check_options: docs/OPTIONS.md and the code agree on $(echo "$code" | wc -l) options and properties."
