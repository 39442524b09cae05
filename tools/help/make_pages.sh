#!/usr/bin/env bash
# Makes a man page, and completions for bash, zsh and fish, from a program's own --help. The build runs it whenever the
# program is linked. Needs bash and any awk.
#
#   bash tools/help/make_pages.sh PROGRAM VERSION FOLDER
#
# Writes FOLDER/NAME.1, NAME.bash, _NAME and NAME.fish; all of them, or none.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1 version=$2 folder=$3
name=$(basename "$program")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bash "$here/describe.sh" "$program" >"$work/rows"
awk -v version="$version" -f "$here/man.awk" "$work/rows" >"$work/$name.1"
awk -f "$here/values.awk" -f "$here/bash.awk" "$work/rows" >"$work/$name.bash"
awk -f "$here/values.awk" -f "$here/zsh.awk" "$work/rows" >"$work/_$name"
awk -f "$here/values.awk" -f "$here/fish.awk" "$work/rows" >"$work/$name.fish"
rm "$work/rows"
mkdir -p "$folder"
cp "$work"/* "$folder"
