#include "demo/crash.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "cambium/write_batch.h"
#include "data/mix.h"
#include "util/prng.h"

namespace cambium::demo {
namespace {

constexpr char kLastKey[] = "crash/last";
constexpr char kBatchPrefix[] = "crash/batch/";
constexpr std::uint64_t kKeysPerBatch = 8;
constexpr std::uint64_t kAcknowledgedMin = 3;  // before the kill, because a child without writes would prove nothing
constexpr int kPatienceMillis = 60'000;

std::string KeyOf(std::uint64_t batch, std::uint64_t i) {
  char key[64];
  std::snprintf(key, sizeof(key), "%s%012llu/%llu", kBatchPrefix, static_cast<unsigned long long>(batch),
                static_cast<unsigned long long>(i));
  return key;
}

// Sizes reach from 0 to 256 KiB: inline values, separated values, and values of many pages.
std::string ValueOf(std::uint64_t batch, std::uint64_t i) {
  Prng random(bench::Mix(batch, i));
  return random.Bytes(random.Skewed(18));
}

Status WriteOne(DB* db, std::uint64_t batch, std::uint64_t* bytes) {
  WriteBatch writes;
  Status status = writes.Put(kLastKey, std::to_string(batch));
  for (std::uint64_t i = 0; i < kKeysPerBatch && status.ok(); ++i) {
    status = writes.Put(KeyOf(batch, i), ValueOf(batch, i));
  }
  *bytes = writes.GetDataSize();
  WriteOptions synced;
  synced.sync = true;
  return status.ok() ? db->Write(synced, &writes) : status;
}

struct Acknowledgement {
  std::uint64_t batch;
  std::uint64_t bytes;
};
static_assert(sizeof(Acknowledgement) <= 512, "a pipe writes so many bytes atomically");

// Never returns: it is killed, or reports on stderr why it stopped.
[[noreturn]] void WriteUntilKilled(const Options& options, const std::string& path, std::uint64_t first, int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::unique_ptr<DB> db;
  Status status = DB::Open(options, path, &db);
  for (std::uint64_t batch = first; status.ok(); ++batch) {
    Acknowledgement acknowledgement{batch, 0};
    status = WriteOne(db.get(), batch, &acknowledgement.bytes);
    if (status.ok() && write(fd, &acknowledgement, sizeof(acknowledgement)) != sizeof(acknowledgement)) break;
  }
  std::fprintf(stderr, "the writing child stopped: %s\n", status.ToString().c_str());
  _exit(1);
}

// Reads acknowledgements until the child has died, and kills it after `kill_after_micros`.
Status Collect(int fd, pid_t child, std::uint64_t first, std::uint64_t kill_after_micros, Crash* crash) {
  // A separate thread kills the child, so that the moment does not depend on its progress within a batch.
  std::thread killer;
  Acknowledgement acknowledgement{};
  Status status;
  while (true) {
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&readable, 1, kPatienceMillis);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      kill(child, SIGKILL);
      status = Status::TimedOut("no batch was acknowledged for a minute");
      break;
    }
    const ssize_t n = read(fd, &acknowledgement, sizeof(acknowledgement));
    if (n < 0 && errno == EINTR) continue;
    if (n != sizeof(acknowledgement)) break;
    if (acknowledgement.batch != first + crash->acknowledged) status = Status::Corruption("acknowledged out of order");
    ++crash->acknowledged;
    crash->bytes += acknowledgement.bytes;
    if (crash->acknowledged == kAcknowledgedMin) {
      killer = std::thread([child, kill_after_micros] {
        std::this_thread::sleep_for(std::chrono::microseconds(kill_after_micros));
        kill(child, SIGKILL);
      });
    }
  }
  if (killer.joinable()) killer.join();
  return status;
}

// Checks that all keys of the batch exist with their bytes, or none.
Status ReadBatch(DB* db, std::uint64_t batch, bool* whole) {
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kKeysPerBatch; ++i) {
    const std::string key = KeyOf(batch, i);
    std::string value;
    Status status = db->Get(ReadOptions(), key, &value);
    if (status.IsNotFound()) continue;
    if (!status.ok()) return status;
    if (value != ValueOf(batch, i)) return Status::Corruption(key + " has other bytes than were written");
    ++found;
  }
  *whole = found == kKeysPerBatch;
  if (found == 0 || *whole) return {};
  return Status::Corruption("batch " + std::to_string(batch) + " exists in part: " + std::to_string(found) + " of " +
                            std::to_string(kKeysPerBatch) + " keys");
}

// Counts the keys of all batches by a walk, so that none after a gap is missed.
Status CountBatchKeys(DB* db, std::uint64_t* keys) {
  ReadOptions only_keys;
  only_keys.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> iterator(db->NewIterator(only_keys));
  for (iterator->Seek(kBatchPrefix); iterator->Valid() && iterator->key().starts_with(kBatchPrefix); iterator->Next()) {
    ++*keys;
  }
  return iterator->status();
}

}  // namespace

Status WriteAndKill(const Options& options, const std::string& path, std::uint64_t first,
                    std::uint64_t kill_after_micros, Crash* crash) {
  *crash = Crash();
  int ends[2];
  if (pipe(ends) != 0) return Status::IOError(std::string("pipe: ") + std::strerror(errno));
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return Status::IOError(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    WriteUntilKilled(options, path, first, ends[1]);
  }
  close(ends[1]);
  Status status = Collect(ends[0], child, first, kill_after_micros, crash);
  close(ends[0]);
  int how = 0;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (status.ok() && !(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)) {
    status = Status::Aborted("the child ended before it was killed");
  }
  return status;
}

Status CheckBatches(DB* db, std::uint64_t acknowledged, std::uint64_t* survivors) {
  *survivors = 0;
  for (bool whole = true; whole;) {
    Status status = ReadBatch(db, *survivors, &whole);
    if (!status.ok()) return status;
    if (whole) ++*survivors;
  }
  if (*survivors < acknowledged) {
    return Status::Corruption("batch " + std::to_string(*survivors) + " was acknowledged, but is lost");
  }
  std::uint64_t keys = 0;
  Status status = CountBatchKeys(db, &keys);
  if (!status.ok()) return status;
  if (keys != *survivors * kKeysPerBatch) {
    return Status::Corruption("there are keys of batches after the first missing one");
  }
  std::string last;
  status = db->Get(ReadOptions(), kLastKey, &last);
  if (*survivors == 0)
    return status.IsNotFound() ? Status() : Status::Corruption("the shared key of a lost batch exists");
  if (status.ok() && last != std::to_string(*survivors - 1)) {
    return Status::Corruption("the key that all batches share says " + last + ", the last whole batch is " +
                              std::to_string(*survivors - 1));
  }
  return status;
}

}  // namespace cambium::demo
