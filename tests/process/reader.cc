#include "process/reader.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include "io/uring_read_queue.h"
#include "testing/files/counting_file_system.h"
#include "testing/files/page_cache.h"
#include "testing/small_options.h"

namespace cambium::testing {
namespace {

constexpr int kKeys = 400;

std::string KeyOf(int i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(5 - digits.size(), '0') + digits;
}
std::string ValueOf(int i) { return KeyOf(i) + std::string(900 + static_cast<std::size_t>(i % 100), 'v'); }

int Tell(int out, Message::Kind kind, const std::string& text) {
  Message message;
  message.kind = kind;
  std::strncpy(message.text, text.c_str(), sizeof(message.text) - 1);
  return ::write(out, &message, sizeof(message)) == sizeof(message) ? 0 : 5;
}

// From now on system call `number` fails with `error` in all threads of this process and in its children.
bool Forbid(long number, int error) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof(program) / sizeof(program[0]), program};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) return false;
  return ::syscall(number, -1, nullptr, nullptr, 0) == -1 && errno == error;
}

bool Take(Lacking lacking) {
  constexpr long kCacheStatCall = 451;
  switch (lacking) {
    case Lacking::kNothing: return true;
    case Lacking::kCacheStat: return Forbid(kCacheStatCall, ENOSYS);
    case Lacking::kResidency: return Forbid(kCacheStatCall, EPERM) && Forbid(SYS_mincore, ENOSYS);
    case Lacking::kIoUring: return Forbid(SYS_io_uring_setup, ENOSYS);
    case Lacking::kIoUringForbidden: return Forbid(SYS_io_uring_setup, EPERM);
  }
  return false;
}

class Reader {
 public:
  Reader(const Plan& plan, int out, bool allow_mmap_reads) : path_(plan.directory), out_(out) {
    options_ = SmallOptions();
    options_.blob_file_size = 128u << 10;
    options_.write_buffer_size = 256u << 10;
    options_.allow_mmap_reads = allow_mmap_reads;
    options_.file_system = files_;
    options_.info_log = NullLogger();
  }

  // Makes a database without pending work and with values in several complete segments.
  bool Load() {
    if (!Open()) return false;
    for (int i = 0; i < kKeys; ++i) {
      if (!db->Put({}, KeyOf(i * 7 % kKeys), ValueOf(i * 7 % kKeys)).ok()) return Wrong("Put");
    }
    if (!db->CompactRange({}, nullptr, nullptr).ok() || !db->WaitForCompact().ok() || !db->Close().ok()) {
      return Wrong("compaction or Close");
    }
    return Open() && db->WaitForCompact().ok();
  }
  bool Wrong(const std::string& what) {
    static_cast<void>(Tell(out_, Message::Kind::kWrong, what));
    return false;
  }

  bool GetAll(const ReadOptions& read) {
    for (int i = 0; i < kKeys; ++i) {
      if (!Check("Get", i, db->Get(read, KeyOf(i), &value_), value_)) return false;
    }
    return true;
  }
  bool MultiGetAll(const ReadOptions& read) {
    for (int from = 0; from < kKeys; from += 50) {
      std::vector<std::string> keys;
      for (int i = 0; i < 50; ++i) keys.push_back(KeyOf((from + i) * 11 % kKeys));
      std::vector<std::string> values;
      const std::vector<Status> statuses = db->MultiGet(read, {keys.begin(), keys.end()}, &values);
      for (std::size_t i = 0; i < 50; ++i) {
        if (!Check("MultiGet", (from + static_cast<int>(i)) * 11 % kKeys, statuses[i], values[i])) return false;
      }
    }
    return true;
  }
  bool ScanAll(const ReadOptions& read) {
    const std::unique_ptr<Iterator> it(db->NewIterator(read));
    int i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++i) {
      value_ = it->value().ToString();
      if (!Check("a scan", i, it->status(), value_)) return false;
    }
    return i == kKeys || Wrong("a scan ends after " + std::to_string(i) + ": " + it->status().ToString());
  }

  std::unique_ptr<DB> db;
  [[nodiscard]] CountingFileSystem& files() { return *files_; }

 private:
  bool Open() {
    const Status s = DB::Open(options_, path_, &db);
    return s.ok() || Wrong("Open: " + s.ToString());
  }
  bool Check(const char* way, int i, const Status& s, const std::string& value) {
    if (s.ok() && value == ValueOf(i)) return true;
    return Wrong(std::string(way) + " of " + KeyOf(i) + ": " + s.ToString());
  }

  const std::string path_;
  const int out_;
  const std::shared_ptr<CountingFileSystem> files_ = std::make_shared<CountingFileSystem>();
  Options options_;
  std::string value_;
};

}  // namespace

int RunHotGets(const Plan& plan, int out) {
  Reader reader(plan, out, true);
  if (!reader.Load()) return 6;
  for (int round = 0; round < 4; ++round) {
    if (!reader.GetAll({})) return 6;
  }
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i) keys.push_back(KeyOf(i));
  std::string value(4096, '\0');
  std::uint64_t bytes = 0;
  static_cast<void>(::getppid());
  for (std::uint64_t n = 0; n < kHotGets; ++n) {
    if (reader.db->Get({}, keys[n * 7 % kKeys], &value).ok()) bytes += value.size();
  }
  static_cast<void>(::getppid());
  if (bytes < kHotGets * 900) return 6;
  const int code = Tell(out, Message::Kind::kClosed, LogIsMapped(plan.directory) ? "mapped" : "");
  return reader.db->Close().ok() ? code : 6;
}

int RunReadAll(const Plan& plan, Lacking lacking, int out) {
  if (!Take(lacking)) return kCannotForbid;
  std::string seen;
  for (const bool mapped : {true, false}) {
    Plan its_plan = plan;
    its_plan.directory += mapped ? "-mapped" : "-read";
    Reader reader(its_plan, out, mapped);
    if (!reader.Load()) return 6;
    for (int round = 0; round < 6; ++round) {
      ReadOptions read;
      read.async_io = round % 2 == 0;
      for (bool (Reader::*const read_all)(const ReadOptions&) : {&Reader::GetAll, &Reader::MultiGetAll, &Reader::ScanAll}) {
        if (round >= 2) ForgetLogPages(its_plan.directory);
        if (!(reader.*read_all)(read)) return 6;
      }
      if (mapped && round == 1 && LogIsMapped(its_plan.directory)) seen += "mapped ";
    }
    if (!mapped) {
      bool is_cold = false;
      std::uint64_t queued = reader.files().TakeReads()[1];
      for (int round = 0; round < 50 && queued == 0; ++round) {
        const bool waits = ColdReadsWait(its_plan.directory);
        if (!reader.MultiGetAll({})) return 6;
        queued = reader.files().TakeReads()[1];
        is_cold = is_cold || waits;
      }
      if (queued > 0) seen += "queued ";
      if (queued == 0 && !is_cold) seen += "kept ";
    }
    if (!reader.db->Close().ok()) return 6;
  }
  if (IoUringWorks()) seen += "uring ";
  return Tell(out, Message::Kind::kClosed, seen);
}

}  // namespace cambium::testing
