#!/usr/bin/env bash
# Prints the --help of a program and of each of its subcommands as rows of tab-separated fields. Man pages and
# completions are made from these rows, so that they always agree with the program.
#
#   bash tools/help/describe.sh PROGRAM
#
# A row is: kind, path, names, value, text. The path is the subcommand that the row belongs to; empty for the program.
#
#   program     names: the program's          text: what it is
#   about                                     text: what the subcommand does
#   command     names: a subcommand's         text: one line about it
#   positional  names: DIR   value: TEXT REQUIRED      text: what it is
#   option      names: -h,--help   value: TEXT:{a,b}   text: what it does
#   footer                                    text: the text below the options
#
# Exits with 1 if a line of the help is none of these.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1
name=$(basename "$program")

describe() {  # the words of a subcommand, or none
  local help rows sub
  help=$(exec -a "$name" "$program" "$@" --help)
  rows=$(awk -v program="$name" -v path="$*" -f "$here/describe.awk" <<<"$help")
  printf '%s\n' "$rows"
  while IFS= read -r sub; do
    [ -z "$sub" ] || describe "$@" "$sub"
  done < <(awk -F '\t' '$1 == "command" { print $3 }' <<<"$rows")
}
describe
