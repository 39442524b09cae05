// LevelDbLedger: an Env that counts what a LevelDB writes, by what for; the files are those of the Env below it.
//
// A file's name says what it is, but for a table, which a flush makes as well as a compaction. LevelDB says so in its
// info log just before it opens the table of a flush: "Level-0 table #12: started".
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include <leveldb/env.h>

#include "engines/engine.h"

namespace cambium::bench {

// Any thread. Outlives the databases that it is given to.
class LevelDbLedger final : public leveldb::EnvWrapper {
 public:
  using Counter = std::atomic<std::uint64_t>;

  LevelDbLedger() : leveldb::EnvWrapper(leveldb::Env::Default()) {}

  // All that was written since it was made, but for the lines of the info log.
  [[nodiscard]] WriteLedger Read() const;

  leveldb::Status NewWritableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status NewAppendableFile(const std::string& path, leveldb::WritableFile** file) override;
  leveldb::Status NewLogger(const std::string& path, leveldb::Logger** logger) override;

  // Of the next table with this number.
  void ExpectFlush(std::uint64_t number);

 private:
  Counter* CounterOf(const std::string& path);

  Counter log_{0};
  Counter flush_{0};
  Counter merge_{0};
  Counter manifest_{0};
  Counter other_{0};
  std::mutex mutex_;
  std::set<std::uint64_t> flushes_;  // tables that are about to be opened; mutex_
};

}  // namespace cambium::bench
