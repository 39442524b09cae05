#!/usr/bin/env bash
# Installs a build into an empty folder, moves the folder, and builds a project outside against it: with find_package
# and with pkg-config, against the static library from C++ and the shared one from C. Then checks the other installed
# files, and those that cpack packs. Nothing of the library is compiled again.
#
#   bash tests/install/install_script.sh BUILD     BUILD: a finished build of the preset release
#
# Exits with 0 if no check fails. Prints "SKIPPED: why" for a check that needs something this machine lacks.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
outside=$root/tests/install/outside
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "install_script: $*" >&2
  exit 1
}
has_option() { grep -q "^$1:BOOL=ON$" "$build/CMakeCache.txt"; }
shared=no
if compgen -G "$build/libcambium.so*" >/dev/null; then shared=yes; fi

# ---- Installing, and moving what was installed ----
cmake --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; fail "cmake --install failed"; }
prefix=$work/moved
mv "$work/first" "$prefix"
while IFS= read -r header; do
  cmp "$header" "$prefix/${header#"$root"/}" || fail "a header is missing"
done < <(find "$root/include/cambium" -name '*.h')
# No installed file may contain the path of the build, of the sources, or of the first folder.
for path in "$build" "$root/" "$work/first"; do
  if grep -rlF -e "$path" "$prefix"; then fail "these contain $path"; fi
done
libdir=$(dirname "$(find "$prefix" -name libcambium.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig

# ---- Six ways to build against it ----
# ran NAME PROGRAM: runs it on a new database.
ran() {
  LD_LIBRARY_PATH=$libdir "$2" "$work/$1.db" || fail "$1: the program did not find what it had written"
  echo "install_script: $1 is built and runs"
}
with_cmake() {  # static, rocksdb_names or shared
  cmake -S "$outside" -B "$work/$1" -DUSE="$1" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
    cmake --build "$work/$1" >>"$work/log" 2>&1 || { cat "$work/log"; fail "find_package, $1"; }
  ran "find_package_$1" "$work/$1/outside"
}
with_cmake static
read -r -a flags <<<"$(pkg-config --cflags --libs cambium-static)"
"${CXX:-c++}" -std=c++20 "$outside/program.cc" "${flags[@]}" -o "$work/pc_static"
ran pkg_config_static "$work/pc_static"
with_cmake rocksdb_names
"${CXX:-c++}" -std=c++20 -I"$(pkg-config --variable=rocksdb_names cambium-static)" "$outside/rocksdb_program.cc" \
  "${flags[@]}" -o "$work/pc_rocksdb_names"
ran pkg_config_rocksdb_names "$work/pc_rocksdb_names"
if ldd "$work/pc_static" | grep libcambium; then fail "cambium-static.pc leads to the shared library"; fi

version=$(pkg-config --modversion cambium-static)
grep -q "^CMAKE_PROJECT_VERSION:STATIC=$version$" "$build/CMakeCache.txt" || fail "pkg-config has version $version"
grep -qF "\"version\": \"$version\"" "$root/packaging/vcpkg/vcpkg.json" || fail "vcpkg.json has another version than $version"
if cmake -S "$outside" -B "$work/absent" -DUSE=none -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1; then
  fail "find_package finds a component that does not exist"
fi
grep -q "there is no component none" "$work/log" || { cat "$work/log"; fail "the missing component is not named"; }

mkdir "$work/nothing"
if PKG_CONFIG_LIBDIR=$work/nothing PKG_CONFIG_PATH='' cmake -S "$outside" -B "$work/poor" -DUSE=static \
  -DCMAKE_PREFIX_PATH="$prefix" -DPKG_CONFIG_USE_CMAKE_PREFIX_PATH=OFF >"$work/log" 2>&1; then
  fail "find_package finds the static library without what it is linked with"
fi
grep -q "the static library needs libzstd" "$work/log" || { cat "$work/log"; fail "what is missing is not named"; }

if [ "$shared" = yes ]; then
  with_cmake shared
  read -r -a flags <<<"$(pkg-config --cflags --libs cambium)"
  "${CC:-cc}" -std=c99 -Wall -Wextra -Wpedantic -Werror "$outside/program.c" "${flags[@]}" -o "$work/pc_shared"
  ran pkg_config_shared "$work/pc_shared"
  [[ $(ldd "$work/pc_shared") == *libcambium.so.[0-9]* ]] || fail "the program does not ask for the library by its number"
else
  echo "SKIPPED: two ways to build against the shared library (this build has none)"
fi

# ---- Programs, and their pages ----
programs=()
if has_option CAMBIUM_BUILD_TOOLS; then programs+=(cambium); fi
if has_option CAMBIUM_BUILD_BENCH; then programs+=(cambium_bench); fi
for program in ${programs[@]+"${programs[@]}"}; do
  "$prefix/bin/$program" --help >/dev/null || fail "$program --help"
  for page in "share/bash-completion/completions/$program" "share/zsh/site-functions/_$program" \
    "share/fish/vendor_completions.d/$program.fish" "share/man/man1/$program.1"; do
    [ -s "$prefix/$page" ] || fail "$page is missing"
  done
  bash "$root/tests/install/pages_script.sh" "$prefix/bin/$program"
  if command -v man >/dev/null; then
    MANPATH=$prefix/share/man man -w "$program" >/dev/null || fail "man does not find $program"
  else
    echo "SKIPPED: man does not look for $program (man is not installed)"
  fi
done
if [ -x "$prefix/bin/cambium" ]; then "$prefix/bin/cambium" verify --deep "$work/pkg_config_static.db" >/dev/null; fi

# ---- Bills of materials ----
# has_sbom PACKAGE NAMES [FILE]: the document must name these, and all libraries that the file is linked with.
dpkg=$(command -v dpkg-query || true)
has_sbom() {
  cmake "-DSBOM=$prefix/share/doc/$1/$1.spdx.json" "-DNAMES=$2" "-DFILE=${3:+$prefix/$3}" "-DDPKG=$dpkg" \
    -P "$root/tests/install/check_sbom.cmake" || fail "the bill of materials of $1"
  echo "install_script: the bill of materials of $1 is complete"
}
has_sbom libcambium-dev "libcambium-dev;libzstd;liblz4;libxxhash;liburing"
if [ "$shared" = yes ]; then
  number=$(objdump -p "$build/libcambium.so" | sed -n 's/.*SONAME *libcambium\.so\.//p')
  has_sbom "libcambium$number" "libcambium$number" "${libdir#"$prefix"/}/libcambium.so"
fi
if has_option CAMBIUM_BUILD_ROCKSDB; then
  has_sbom libcambium-rocksdb libcambium-rocksdb "${libdir#"$prefix"/}/libcambium_rocksdb.so"
fi
if has_option CAMBIUM_BUILD_TOOLS; then has_sbom cambium-tools "CLI11;nlohmann_json" bin/cambium; fi
if has_option CAMBIUM_BUILD_BENCH; then has_sbom cambium-bench "CLI11;nlohmann_json" bin/cambium_bench; fi

# ---- Debian packages ----
if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
  echo "SKIPPED: no packages are made (dpkg-deb and dpkg-shlibdeps are not installed)"
  exit 0
fi
mkdir "$work/packages"
(cd "$build" && cpack -G DEB -B "$work/packages" >"$work/log" 2>&1) || { cat "$work/log"; fail "cpack failed"; }

# holds PACKAGE FILES...: the package must exist, and must have a file for each of these patterns. It may have no other
# files except its copyright and its bill of materials, in /usr/share/doc/PACKAGE, which it must have.
holds() {
  local package=$1 contents left pattern
  shift
  compgen -G "$work/packages/${package}_*.deb" >/dev/null || fail "there is no package $package"
  contents=$(dpkg-deb -c "$work/packages/$package"_*.deb | awk '$1 !~ /^d/ { print $6 }' | sed 's|^\./|/|')
  left=$(grep -v "^/usr/share/doc/$package/\(copyright\|$package\.spdx\.json\)$" <<<"$contents")
  for pattern in "$@"; do
    grep -q "^$pattern$" <<<"$left" || fail "$package has no $pattern: $contents"
    left=$(grep -v "^$pattern$" <<<"$left" || true)
  done
  [ -z "$left" ] || fail "$package has these too: $left"
  grep -q '/copyright$' <<<"$contents" || fail "$package has no copyright"
  grep -q '/'"$package"'\.spdx\.json$' <<<"$contents" || fail "$package has no bill of materials"
  [[ $(dpkg-deb -f "$work/packages/$package"_*.deb Description) == "embedded key-value store, "* ]] ||
    fail "$package describes itself in another way"
  echo "install_script: $package is packed, $(wc -l <<<"$contents") files"
}
depends_of() { dpkg-deb -f "$work/packages/$1"_*.deb Depends; }

lib='/usr/lib\(/[^/]*\)\?'
development=('/usr/include/cambium/[a-z_/]*\.h' "$lib/libcambium\\.a" "$lib/pkgconfig/cambium-static\\.pc"
  "$lib/cmake/cambium/[a-z-]*\\.cmake")
if [ "$shared" = yes ]; then development+=("$lib/libcambium\\.so" "$lib/pkgconfig/cambium\\.pc"); fi
holds libcambium-dev "${development[@]}"
[[ $(depends_of libcambium-dev) == *libzstd-dev*liblz4-dev*libxxhash-dev*liburing-dev* ]] ||
  fail "libcambium-dev does not bring what the static library needs"
if [ "$shared" = yes ]; then
  holds "libcambium$number" "$lib/libcambium\\.so\\.[0-9.]*"
  [[ $(depends_of libcambium-dev) == *"libcambium$number (= $version)"* ]] || fail "libcambium-dev has no runtime"
  [[ $(depends_of "libcambium$number") == *libc6* ]] || fail "the runtime package depends on nothing"
fi
if has_option CAMBIUM_BUILD_ROCKSDB; then
  holds libcambium-rocksdb "$lib/libcambium_rocksdb\\.so" "$lib/libcambium_rocksdb\\.so\\.[0-9.]*"
  [[ $(depends_of libcambium-rocksdb) == *libc6* ]] || fail "the package of RocksDB's interface depends on nothing"
fi
# pages_of PROGRAM: prints patterns for the files that are packed with it, and for the program itself.
pages_of() {
  printf '%s\n' "/usr/bin/$1" "/usr/share/man/man1/$1\\.1\\(\\.gz\\)\\?" "/usr/share/bash-completion/completions/$1" \
    "/usr/share/zsh/vendor-completions/_$1" "/usr/share/fish/vendor_completions\\.d/$1\\.fish"
}
for program in ${programs[@]+"${programs[@]}"}; do
  package=cambium-tools
  [ "$program" = cambium ] || package=cambium-bench
  mapfile -t files < <(pages_of "$program")
  holds "$package" "${files[@]}"
  [[ $(depends_of "$package") == *libc6* ]] || fail "$package depends on nothing: $(depends_of "$package")"
done
if [[ $(depends_of cambium-tools) == *rocksdb* ]]; then fail "the tool's package wants RocksDB"; fi
