#!/usr/bin/env bash
# Every identifier that docs/ARCHITECTURE.md has in backquotes must be in the sources. For a name X::Y, the sources must
# contain X::Y, or a file that defines X must contain Y.
set -u
root=$1
document=$root/docs/ARCHITECTURE.md
failed=0
count=0
folders=("$root/src" "$root/include" "$root/tools" "$root/cmake" "$root/docs/TOOL.md")
words=$(grep -rhoE '[A-Za-z_][A-Za-z0-9_]*' "${folders[@]}" | sort -u)
has_member() {  # class, member
  grep -rqE "\b$1::$2\b" "$root/src" "$root/include" && return 0
  grep -rlE "\b(class|struct)( [A-Z_]+(\([^)]*\))?)? $1\b[^;]*(\{|$)|\benum class $1\b" "$root/src" "$root/include" |
    xargs -r grep -qE "\b$2\b"
}
while IFS= read -r name; do
  count=$((count + 1))
  missing=
  for word in ${name//::/ }; do
    grep -qxF "$word" <<<"$words" || missing=$word
  done
  if [ -z "$missing" ] && [[ $name == *::* ]]; then
    owner=${name%::*}
    has_member "${owner##*::}" "${name##*::}" || missing=$name
  fi
  [ -z "$missing" ] || { echo "docs/ARCHITECTURE.md: \`$name\` is not in the sources" >&2; failed=1; }
done < <(grep -oE '`[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*`' "$document" | tr -d '`' | sort -u)
[ "$failed" -eq 0 ] || exit 1
[ "$count" -gt 0 ] || { echo "check_names: found no name at all" >&2; exit 1; }
echo "check_names: $count names are in the sources."
