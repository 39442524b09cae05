#!/usr/bin/env bash
# check_forbidden_test.sh SCRIPT: SCRIPT must find each kind of forbidden line, and nothing in comments, strings or
# member names.
set -u
script=$1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/vlog" "$tree/src/io" "$tree/src/util"
failed=0

expect() {  # expect STATUS NAME: runs the script over the tree
  bash "$script" "$tree" > "$tree/out" 2>&1
  local status=$?
  if [ "$status" -ne "$1" ]; then
    echo "FAILED: $2: exit $status, expected $1"; cat "$tree/out"; failed=1
  fi
}

while IFS= read -r line; do
  printf 'int before;\n%s\n' "$line" > "$tree/src/vlog/bad.cc"
  expect 1 "$line"
  grep -qF "src/vlog/bad.cc:2: $line" "$tree/out" || { echo "FAILED: not printed: $line"; failed=1; }
done <<'BAD'
std::thread worker(run);
std::jthread worker(run);
auto f = std::async(run);
int fd = open(path, O_RDONLY);
int fd = ::open (path, O_RDONLY);
n = pread(fd, buffer, size, offset);
int fd = ::open(
n = ::pwrite(fd, buffer, size, offset);
if (fsync(fd) != 0) return;
if (::fdatasync(fd) != 0) return;
unlink(path.c_str());
::rename(a, b);
auto now = time(nullptr);
auto now = std::time(nullptr);
x = rand() % 7;
std::random_device device;
auto now = std::chrono::steady_clock::now();
using Clock = std::chrono::system_clock;
clock_gettime(CLOCK_REALTIME, &now);
std::this_thread::sleep_for(nap);
usleep(10);
FILE* f = fopen(name, "r");
std::ifstream in(name);
std::filesystem::remove(name);
std::remove(name);
void* p = mmap(nullptr, n, PROT_READ, MAP_SHARED, fd, 0);
#include <unistd.h>
#include <thread>
/* why */ fsync(fd);
return "x" + std::to_string(time(nullptr));
BAD
rm "$tree/src/vlog/bad.cc"

cat > "$tree/src/vlog/good.cc" <<'GOOD'
#include <mutex>
// We never open(path) or call rand() here; std::thread is not for us.
/* fsync(fd) in a
   comment of time(nullptr) lines */
Status s = file->Write(offset, data);
auto n = record.time() + clock->NowMicros() + reader.read(4);
const char* text = "open(\"x\") and rand() and std::thread";
entries.erase(std::remove(entries.begin(), entries.end(), 3), entries.end());
bool runtime(int reopen(int), int is_open(int));
long million = 1'000'000;
Result<Run> opened = open();
GOOD
expect 0 "allowed lines"
printf 'std::thread t; int fd = open(p, 0);\n' | tee "$tree/src/io/ok.cc" > "$tree/src/util/ok.cc"
expect 0 "src/io and src/util"
bash "$script" "$tree/nowhere" > /dev/null 2>&1
[ $? -eq 2 ] || { echo "FAILED: a tree without src/"; failed=1; }
exit $failed
