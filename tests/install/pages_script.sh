#!/usr/bin/env bash
# Makes the man page and the completions of a program, and compares them with its --help: every name of an option or
# command must be in all four files. This script parses --help with code of its own. Then bash completes some lines.
#
#   bash tests/install/pages_script.sh PROGRAM
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=$1
name=$(basename "$program")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
  echo "pages_script: $*" >&2
  failed=1
}

bash "$root/tools/help/make_pages.sh" "$program" 1.2.3 "$work" || exit 1

# Checks the names of options, which are at the beginnings of lines, and then each command below this one.
count=0
check() {  # the words of a command
  local help word page plain sub
  help=$("$program" "$@" --help)
  for word in $(sed -n 's/^  \(-[^ ]*\).*/\1/p' <<<"$help" | sed 's/{[^}]*}//g; s/,/ /g'); do
    count=$((count + 1))
    for page in "$name.1" "$name.bash" "_$name"; do
      plain=$(sed 's/\\f[BIR]/ /g; s/\\-/-/g' "$work/$page")
      grep -qwF -e "$word" <<<"$plain" || complain "$page has no $word of \"$*\""
    done
    case $word in
      --*) grep -qE -e "-l ${word#--}( |\$)" "$work/$name.fish" || complain "$name.fish has no $word of \"$*\"" ;;
      *) grep -qE -e "-s ${word#-}( |\$)" "$work/$name.fish" || complain "$name.fish has no $word of \"$*\"" ;;
    esac
  done
  for sub in $(sed -n '/^[Ss]ub[Cc]ommands:\|^SUBCOMMANDS:/,$s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help"); do
    count=$((count + 1))
    for page in "$name.1" "$name.bash" "_$name" "$name.fish"; do
      plain=$(sed 's/\\f[BIR]/ /g; s/\\-/-/g' "$work/$page")
      grep -qwF -e "$sub" <<<"$plain" || complain "$page has no command $sub"
    done
    check "$@" "$sub"
  done
}
check
[ "$count" -gt 2 ] || complain "found no options in the help of $program"
grep -q '1\.2\.3' "$work/$name.1" || complain "the man page does not name the version"

# complete_line WORDS...: prints what bash would offer for the last word.
complete_line() {
  bash -c '
    source "$1"
    shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    "_$1"
    printf "%s " "${COMPREPLY[@]}"' complete_line "$work/$name.bash" "$name" "$@"
}
[[ " $(complete_line --he) " == *" --help "* ]] || complain "bash does not complete --he"
if [ "$name" = cambium ]; then
  [[ " $(complete_line ver) " == *" verify "* ]] || complain "bash does not complete ver"
  [[ " $(complete_line verify --de) " == *" --deep "* ]] || complain "bash does not complete verify --de"
  [[ " $(complete_line verify --comparator by) " == *" bytewise "* ]] || complain "bash does not complete by"
  [[ " $(complete_line --de) " != *" --deep "* ]] || complain "bash offers an option of verify to the program"
fi

if command -v groff >/dev/null; then
  warnings=$(groff -man -Tutf8 -ww -z "$work/$name.1" 2>&1)
  [ -z "$warnings" ] || complain "groff says of the man page: $warnings"
else
  echo "SKIPPED: the man page is not drawn (groff is not installed)"
fi
for shell in zsh fish; do
  file=$work/_$name
  [ "$shell" = zsh ] || file=$work/$name.fish
  if command -v "$shell" >/dev/null; then
    "$shell" -n "$file" || complain "$shell does not read its completion"
  else
    echo "SKIPPED: $shell has not read its completion (it is not installed)"
  fi
done

# A --help in a form that it may have later: names that reach the column of the texts, texts of several lines, groups,
# commands of commands, and the headings of later releases of CLI11.
cat >"$work/toy" <<'TOY'
#!/bin/sh
case "$*" in
  --help) cat <<'HELP' ;;
Is a toy.
Usage: toy [OPTIONS] SUBCOMMAND

OPTIONS:
  -h,     --help              Print this
  --threads UINT:UINT in [1 - 255]=1
                              threads of a workload,
                              all of them
[Option Group: rare]
  --fast,--slow{false}        how fast

SUBCOMMANDS:
  box                         Has two toys.

Exit codes: 0 fine.
HELP
  'box --help') cat <<'HELP' ;;
Has two toys.
Usage: toy box [OPTIONS] SUBCOMMAND

Subcommands:
  ball                        Is round.
HELP
  'box ball --help') cat <<'HELP' ;;
Is round.
Usage: toy box ball [OPTIONS] DIR

Positionals:
  DIR TEXT:DIR REQUIRED       where it lies

Options:
  --colour {red,green}=red    as it says
HELP
esac
TOY
chmod +x "$work/toy"
expected='option||-h,--help||Print this
option||--threads|UINT:UINT in [1 - 255]=1|threads of a workload, all of them
option||--fast,--slow||how fast
command||box||Has two toys.
program||toy||Is a toy.
footer||||Exit codes: 0 fine.
command|box|ball||Is round.
about|box|||Has two toys.
positional|box ball|DIR|TEXT:DIR REQUIRED|where it lies
option|box ball|--colour|{red,green}=red|as it says
about|box ball|||Is round.'
rows=$(bash "$root/tools/help/describe.sh" "$work/toy" | tr '\t' '|')
if [ "$rows" != "$expected" ]; then
  diff <(echo "$expected") <(echo "$rows") >&2
  complain "a help was read in another way than it says"
fi

# A --help in an unknown form must be refused, and not be read as if it were understood.
cat >"$work/odd" <<'ODD'
#!/bin/sh
printf '%s\n' 'Is odd.' 'Usage: odd' '' 'Options:' '  -h,--help                   Print this' '     half an entry'
ODD
chmod +x "$work/odd"
if bash "$root/tools/help/describe.sh" "$work/odd" >/dev/null 2>"$work/said"; then
  complain "a help that cannot be read was taken"
fi
grep -q 'line 6' "$work/said" || complain "it was refused without the line: $(cat "$work/said")"
exit "$failed"
