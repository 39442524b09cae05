#!/usr/bin/env bash
# Prose in docs and in every README has lines of at most 120 characters. Tables and code cannot be broken, and are left alone.
set -u
export LC_ALL=C.UTF-8  # characters, not bytes
root=$1
max=120
failed=0
count=0
while IFS= read -r document; do
  in_code=no
  number=0
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    if [[ $line =~ ^\ *\`\`\` ]]; then
      if [ "$in_code" = no ]; then in_code=yes; else in_code=no; fi
    elif [ "$in_code" = no ] && ! [[ $line =~ ^\ *\| ]]; then
      count=$((count + 1))
      if [ ${#line} -gt $max ]; then
        echo "${document#"$root"/}:$number: ${#line} characters, more than $max" >&2
        failed=1
      fi
    fi
  done <"$document"
done < <(git -C "$root" ls-files 'docs/*.md' 'README.md' '*/README.md' | sed "s|^|$root/|" | sort)
[ "$failed" -eq 0 ] || exit 1
[ "$count" -gt 0 ] || { echo "check_lines: found no prose at all" >&2; exit 1; }
echo "check_lines: $count lines of prose fit."
