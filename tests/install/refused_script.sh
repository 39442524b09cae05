#!/usr/bin/env bash
# A build with test hooks must not be installed: cmake must refuse it with a message, and write nothing.
set -u
cmake=$1 build=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
output=$("$cmake" --install "$build" --prefix "$prefix/usr" 2>&1)
code=$?
if [ "$code" -eq 0 ] || [[ $output != *"use the preset release"* ]]; then
  printf 'installing a build for tests ended with %s and said:\n%s\n' "$code" "$output" >&2
  exit 1
fi
if [ -n "$(ls -A "$prefix")" ]; then
  echo "it has written files all the same:" >&2
  find "$prefix" >&2
  exit 1
fi
