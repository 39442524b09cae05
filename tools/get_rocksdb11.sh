#!/usr/bin/env bash
# Fetches the library for the engines rocksdb11_* of cambium_bench: the native part of the Java package
# org.rocksdb:rocksdbjni, by Maven.
#
#   bash tools/get_rocksdb11.sh [DIR] [VERSION]
#
# DIR: where the library is put, by default build/rocksdb11. VERSION: of the package, by default 11.8.1. Prints the
# command that tells the bench where the library is. Needs mvn, and unzip or python3. Exits with 1 if the library cannot
# be fetched, 2 if something is not installed.
set -euo pipefail
dir=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/rocksdb11}
version=${2:-11.8.1}

stop() { echo "get_rocksdb11: $2" >&2; exit "$1"; }

case $(uname -m) in
  x86_64) name=librocksdbjni-linux64.so ;;
  aarch64) name=librocksdbjni-linux-aarch64.so ;;
  *) stop 2 "the bench does not look for this library on $(uname -m)" ;;
esac
command -v mvn >/dev/null || stop 2 "needs mvn (Debian's package maven)"
command -v unzip >/dev/null || command -v python3 >/dev/null || stop 2 "needs unzip or python3"

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mvn --quiet --batch-mode dependency:copy "-Dartifact=org.rocksdb:rocksdbjni:$version" "-DoutputDirectory=$work" >&2 ||
  stop 1 "Maven has no org.rocksdb:rocksdbjni:$version"
jar=$work/rocksdbjni-$version.jar
if command -v unzip >/dev/null; then
  unzip -q "$jar" "$name" -d "$work"
else
  python3 -m zipfile -e "$jar" "$work"
fi || stop 1 "the package has no $name"
mv "$work/$name" "$dir/$name"
echo "export CAMBIUM_ROCKSDB11_LIBRARY=$dir/$name"
