#!/usr/bin/env bash
# Installs what building, testing and measuring Cambium needs, on Debian (12 or later) and Ubuntu (24.04 or later), as
# far as it is missing. The other stores of the bench are optional: the bench is built without those that are missing.
# Chromium is optional too: without it no test opens the bench's report in a browser. Without abigail-tools the binary
# interface of the shared libraries is not compared with its record.
#
#   bash tools/install_deps.sh
#   bash tools/install_deps.sh clang   # also these packages, if apt has them
#
# Uses sudo if not run by root. Exits with 1 if something needed is missing and could not be installed. On other systems
# it only names the packages.
set -euo pipefail

# command:package, for programs that may also come from another source.
PROGRAMS=(g++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config)
NEEDED=(libzstd-dev liblz4-dev libxxhash-dev liburing-dev libgtest-dev libbenchmark-dev libcli11-dev
        nlohmann-json3-dev)
RIVALS=(librocksdb-dev liblmdb-dev libleveldb-dev libwiredtiger-dev)
BROWSER=(chromium)
ABI=(abigail-tools)
CMAKE_MIN=3.25

say() { printf 'install_deps: %s\n' "$*" >&2; }

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Prints those of its arguments that dpkg has not installed.
missing_of() {
  local package
  for package in "$@"; do
    is_installed "$package" || printf '%s\n' "$package"
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# Waits for apt's lock, which another process may hold, as on a machine that has just been started. Tries three times,
# because a mirror may not answer.
apt() {
  local try
  for try in 1 2 3; do
    as_root apt-get -q -o DPkg::Lock::Timeout=300 "$@" && return
    say "apt-get $1 failed, try $try of 3"
    sleep $((5 * try))
  done
  return 1
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  if [ "$(printf '%s\n' "$CMAKE_MIN" "$version" | sort -V | sed -n 1p)" != "$CMAKE_MIN" ]; then
    say "cmake $version is too old, $CMAKE_MIN is needed (Debian 12, Ubuntu 24.04 or later have it)"
    exit 1
  fi
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  say "this is neither Debian nor Ubuntu; please install these packages or their equivalents:"
  say "  ${PROGRAMS[*]#*:} ${NEEDED[*]}; optional: ${RIVALS[*]} ${BROWSER[*]} ${ABI[*]}"
  exit 0
fi

needed=()
for program in "${PROGRAMS[@]}"; do
  command -v "${program%%:*}" >/dev/null || needed+=("${program#*:}")
done
mapfile -t -O "${#needed[@]}" needed < <(missing_of "${NEEDED[@]}")
mapfile -t optional < <(missing_of "${RIVALS[@]}" "${BROWSER[@]}" "${ABI[@]}" "$@")

if [ "${#needed[@]}" -eq 0 ] && [ "${#optional[@]}" -eq 0 ]; then
  check_cmake
  exit 0
fi
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
  say "not root, and sudo is not installed; as root, run:"
  say "  apt-get update && apt-get install -y ${needed[*]} ${optional[*]}"
  [ "${#needed[@]}" -eq 0 ] && exit 0
  exit 1
fi

say "installing ${needed[*]} ${optional[*]}"
apt update || say "going on with the existing lists"
if [ "${#needed[@]}" -gt 0 ] && ! apt install -y --no-install-recommends "${needed[@]}"; then
  say "could not install: ${needed[*]}"
  exit 1
fi
for package in "${optional[@]}"; do
  if ! apt-cache show "$package" >/dev/null 2>&1; then
    say "going on without $package, which this release does not have"
    continue
  fi
  apt install -y --no-install-recommends "$package" || say "going on without $package"
done
check_cmake
