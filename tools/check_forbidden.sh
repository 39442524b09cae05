#!/usr/bin/env bash
# The library uses files, time, randomness and threads only through src/io and src/util, so that a test can replace
# them. Prints every line of the other folders of src/ that uses them directly, and exits with 1 if there is one.
#
#   tools/check_forbidden.sh [ROOT]     ROOT: a source tree, by default the one that holds this script
set -u
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
[ -d "$root/src" ] || { echo "$0: $root has no src/" >&2; exit 2; }

# A call: the whole name, not a member (`file.read(` calls an interface), and a parenthesis.
call() { printf '(^|[^A-Za-z0-9_.>~])(%s)[[:space:]]*\\(' "$1"; }
# A call with arguments, since `open()` without any is a function of our own.
call_with() { printf '%s[[:space:]]*([^)[:space:]]|$)' "$(call "$1")"; }

patterns=(
  'std::(jthread|thread|async|random_device|mt19937|default_random_engine|filesystem|system_clock|steady_clock)'
  'std::(high_resolution_clock|[io]?fstream|basic_[io]?fstream|filebuf|tmpfile|remove[[:space:]]*\([^,()]*(\([^()]*\))?[^,()]*\))'
  'std::chrono::(system_clock|steady_clock|high_resolution_clock|file_clock|utc_clock)|this_thread::sleep'
  '(system|steady|high_resolution)_clock::now'
  '#[[:space:]]*include[[:space:]]*<(unistd|fcntl|dirent|pthread|time|sys/(stat|file|uio|random|syscall|time|types|wait|statvfs|ioctl)|liburing|linux/[a-z_]+)\.h>'
  '#[[:space:]]*include[[:space:]]*<(fstream|filesystem|random|ctime|thread|future)>'
  "$(call_with 'open|openat|open64|creat|close|fopen|fdopen|freopen|pread|pread64|preadv|preadv2|pwrite|pwrite64|pwritev|pwritev2')"
  "$(call_with 'fsync|fdatasync|sync_file_range|syncfs|msync|ftruncate|truncate|fallocate|posix_fallocate|posix_fadvise|lseek')"
  "$(call_with 'unlink|unlinkat|rename|renameat|renameat2|link|linkat|symlink|mkdir|mkdirat|rmdir|opendir|readdir|closedir')"
  "$(call_with 'stat|fstat|lstat|fstatat|statx|statvfs|statfs|flock|fcntl|ioctl|mmap|munmap|mincore|syscall')"
  "$(call 'time|gettimeofday|clock_gettime|clock|nanosleep|clock_nanosleep|usleep|sleep|localtime|gmtime')"
  "$(call 'rand|srand|rand_r|random|srandom|drand48|getrandom|getentropy|pthread_create|fork|vfork|system|popen')"
)
expression=$(IFS='|'; echo "${patterns[*]}")

# Blanks out comments and quoted text, keeping the lines, so that comments may mention open() and rand().
strip() {
  awk '
    {
      line = $0; out = ""; i = 1; n = length(line)
      if (line ~ /^[[:space:]]*#[[:space:]]*include/) { print line; next }
      while (i <= n) {
        two = substr(line, i, 2); c = substr(line, i, 1)
        if (block) { if (two == "*/") { block = 0; i += 2 } else i++; continue }
        if (two == "//") break
        if (two == "/*") { block = 1; i += 2; continue }
        if (c == "\"" || (c == "\x27" && substr(line, i - 1, 1) !~ /[0-9a-fA-F]/)) {
          out = out c
          for (i++; i <= n && substr(line, i, 1) != c; i++) if (substr(line, i, 1) == "\\") i++
          out = out c; i++; continue
        }
        out = out c; i++
      }
      print out
    }' "$1"
}

found=0
while IFS= read -r -d '' file; do
  lines=$(strip "$file" | grep -nE "$expression" | cut -d: -f1)
  for line in $lines; do
    printf '%s:%s: %s\n' "${file#"$root"/}" "$line" "$(sed -n "${line}p" "$file")"
    found=1
  done
done < <(find "$root/src" \( -path "$root/src/io" -o -path "$root/src/util" \) -prune -o \
           -type f \( -name '*.cc' -o -name '*.h' -o -name '*.c' -o -name '*.inc' \) -print0 | sort -z)

if [ "$found" -ne 0 ]; then
  echo "check_forbidden: the lines above bypass FileSystem, Clock, RandomSource or Executor." >&2
  exit 1
fi
echo "check_forbidden: src/ uses the system only through src/io and src/util."
