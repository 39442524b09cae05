#!/usr/bin/env bash
# Every file that a document links to, or names in backquotes by a path in this repository, must exist.
set -u
root=$1
failed=0
count=0
complain() {
  echo "$1: $2 does not exist" >&2
  failed=1
}
while IFS= read -r document; do
  folder=$(dirname "$document")
  while IFS= read -r target; do
    count=$((count + 1))
    [ -e "$folder/$target" ] || complain "${document#"$root"/}" "$target"
  done < <(grep -oE '\]\([^):#]+' "$document" | sed 's/^](//' | sort -u)
  while IFS= read -r name; do
    count=$((count + 1))
    if ! [ -e "$root/$name" ]; then compgen -G "$root/$name.*" >/dev/null || complain "${document#"$root"/}" "$name"; fi
  done < <(grep -oE '`(src|include|tests|tools|bench|examples|docs|cmake)/[A-Za-z0-9_./-]+`' "$document" | tr -d '`' | sort -u)
done < <(find "$root/README.md" "$root/docs" -name '*.md' | sort)
[ "$failed" -eq 0 ] || exit 1
[ "$count" -gt 0 ] || { echo "check_links: found no link at all" >&2; exit 1; }
echo "check_links: $count links and names lead to files."
