#!/usr/bin/env bash
# Checks that docs/TOOL.md has a row for every command of the tool, and no others.
#
#   bash tests/tools/tool_doc_script.sh TOOL
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
commands=$("$1" --help | awk '/^Subcommands:/ { inside = 1; next } inside && /^  [a-z]/ { print $1 }' | sort)
described=$(sed -n 's/^| \[\{0,1\}`\([a-z]*\)`.*/\1/p' "$root/docs/TOOL.md" | sort)
[ "$(wc -l <<<"$commands")" -ge 9 ] || { echo "tool_doc_script: found too few commands in --help" >&2; exit 1; }
diff <(echo "$commands") <(echo "$described") || { echo "tool_doc_script: < has no row in docs/TOOL.md, > is no command" >&2; exit 1; }
for command in $commands; do
  "$1" "$command" --help >/dev/null || { echo "tool_doc_script: $command --help fails" >&2; exit 1; }
done
