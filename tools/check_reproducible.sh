#!/usr/bin/env bash
# Builds the release twice, in directories of different names and lengths, and compares every file that is installed or
# packed, byte by byte. Two whole builds take too long for CI: run this before a release.
#
#   bash tools/check_reproducible.sh [DIR]    DIR: for the two builds, which stay there; else a temporary directory
#
# JOBS limits parallel compilation; CMAKE_ARGS is passed to cmake. ccache is not used. The dates in the packages are
# those of SOURCE_DATE_EPOCH, or of the last commit. Uncommitted changes of files that git knows are built too.
#
# Exits with 0 if nothing differs. Otherwise it names the files, and shows where they differ if diffoscope is installed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ "$#" -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd)
else
  work=$(mktemp -d "${TMPDIR:-/tmp}/cambium_reproducible-XXXXXX")
  trap 'rm -rf "$work"' EXIT
fi
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1
read -r -a given <<<"${CMAKE_ARGS:-}"

# make NAME: copies the sources to NAME, builds them, and puts what is installed and packed into NAME.out.
make() {
  local sources=$work/$1 output=$work/$1.out
  mkdir -p "$sources"
  (cd "$root" && git ls-files -z | xargs -0 cp --preserve=timestamps --parents -t "$sources")
  rm -rf "$output"
  (
    cd "$sources"
    cmake --preset release ${given[@]+"${given[@]}"} >/dev/null
    cmake --build build/release --parallel "${JOBS:-$(nproc)}"
    cmake --install build/release --prefix "$output/prefix" >/dev/null
    cd build/release
    if command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null; then
      (umask 022 && cpack -G DEB -B "$output/packages" >/dev/null)  # cpack gives ar the modes of its temporary files
    else
      echo "SKIPPED: no packages are compared (dpkg-deb and dpkg-shlibdeps are not installed)"
    fi
  )
  rm -rf "$output/packages/_CPack_Packages"
}

# Another language, time zone or umask of the build must make no difference either.
(umask 022 && make first)
(umask 002 && export LC_ALL=C.UTF-8 TZ=Asia/Tokyo && make another_place/second)

list() { (cd "$work/$1.out" && find . ! -type d | LC_ALL=C sort); }
if ! diff <(list first) <(list another_place/second); then
  echo "check_reproducible: the builds have different files" >&2
  exit 1
fi
differ=0
while IFS= read -r file; do
  one=$work/first.out/$file
  other=$work/another_place/second.out/$file
  if ! cmp -s "$one" "$other"; then
    echo "check_reproducible: $file differs" >&2
    if command -v diffoscope >/dev/null; then diffoscope --max-report-size 5000 "$one" "$other" >&2 || true; fi
    differ=$((differ + 1))
  fi
done < <(list first)
echo "check_reproducible: $(list first | wc -l) files are compared, $differ differ"
[ "$differ" -eq 0 ]
