#!/usr/bin/env bash
# docs/TOOL.md has every command that the tool has, and no other.
#
#   bash tests/tools/tool_doc_script.sh TOOL
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
commands=$("$1" --help | awk '/^Subcommands:/ { inside = 1; next } inside && /^  [a-z]/ { print $1 }' | sort)
described=$(sed -n 's/^| \[\{0,1\}`\([a-z]*\)`.*/\1/p' "$root/docs/TOOL.md" | sort)
[ "$(wc -l <<<"$commands")" -ge 9 ] || { echo "tool_doc_script: --help has too few commands to be read right" >&2; exit 1; }
diff <(echo "$commands") <(echo "$described") || { echo "tool_doc_script: < has no row in docs/TOOL.md, > is no command" >&2; exit 1; }
for command in $commands; do
  "$1" "$command" --help >/dev/null || { echo "tool_doc_script: $command --help fails" >&2; exit 1; }
done
