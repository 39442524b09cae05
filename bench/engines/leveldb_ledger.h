// LevelDbLedger: an Env that counts what a LevelDB writes, by cause. It leaves the files to the Env below it.
//
// A file's name tells its kind, except that both flushes and compactions make tables. Just before LevelDB opens the
// table of a flush, it writes to its info log: "Level-0 table #12: started".
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include <leveldb/env.h>

#include "engines/engine.h"

namespace cambium::bench {

// Any thread. Must outlive the databases that use it.
class LevelDbLedger final : public leveldb::EnvWrapper {
 public:
  using Counter = std::atomic<std::uint64_t>;

  LevelDbLedger() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  // Returns what was written since this object was made, without the lines of the info log.
  [[nodiscard]] WriteLedger Read() const;

  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status NewLogger(const std::string& path, leveldb::Logger** logger) override;

  // The next table with this number is the output of a flush.
  void ExpectFlush(std::uint64_t number);

 private:
  Counter* CounterOf(const std::string& path);

  Counter log_{0};
  Counter flush_{0};
  Counter merge_{0};
  Counter manifest_{0};
  Counter other_{0};
  std::mutex mutex_;
  std::set<std::uint64_t> flushes_;  // numbers of tables about to be opened; guarded by mutex_
};

}  // namespace cambium::bench
