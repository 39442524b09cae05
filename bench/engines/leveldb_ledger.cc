#include "engines/leveldb_ledger.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace cambium::bench {
namespace {

constexpr std::string_view kFlushLine = "Level-0 table #";  // followed by its number and ": started" or ": 123 bytes"

class CountedFile final : public leveldb::WritableFile {
 public:
  CountedFile(leveldb::WritableFile* base, LevelDbLedger::Counter* counter) : base_(base), counter_(counter) {}
  leveldb::Status Append(const leveldb::Slice& data) override {
    counter_->fetch_add(data.size(), std::memory_order_relaxed);
    return base_->Append(data);
  }
  leveldb::Status Close() override { return base_->Close(); }
  leveldb::Status Flush() override { return base_->Flush(); }
  leveldb::Status Sync() override { return base_->Sync(); }

 private:
  const std::unique_ptr<leveldb::WritableFile> base_;
  LevelDbLedger::Counter* const counter_;
};

class ListeningLogger final : public leveldb::Logger {
 public:
  ListeningLogger(leveldb::Logger* base, LevelDbLedger* ledger) : base_(base), ledger_(ledger) {}
  void Logv(const char* format, std::va_list arguments) override {
    if (std::string_view(format).starts_with(kFlushLine)) {
      std::va_list copy;
      va_copy(copy, arguments);
      char line[128];
      std::vsnprintf(line, sizeof(line), format, copy);
      va_end(copy);
      if (std::string_view(line).ends_with(": started")) {
        ledger_->ExpectFlush(std::strtoull(line + kFlushLine.size(), nullptr, 10));
      }
    }
    base_->Logv(format, arguments);
  }

 private:
  const std::unique_ptr<leveldb::Logger> base_;
  LevelDbLedger* const ledger_;
};

}  // namespace

WriteLedger LevelDbLedger::Read() const {
  const auto read = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  return {.log = read(log_),
          .flush = read(flush_),
          .merge = read(merge_),
          .manifest = read(manifest_),
          .other = read(other_)};
}

leveldb::Status LevelDbLedger::NewWritableFile(const std::string& path, leveldb::WritableFile** file) {
  const leveldb::Status status = target()->NewWritableFile(path, file);
  if (status.ok()) *file = new CountedFile(*file, CounterOf(path));
  return status;
}

leveldb::Status LevelDbLedger::NewAppendableFile(const std::string& path, leveldb::WritableFile** file) {
  const leveldb::Status status = target()->NewAppendableFile(path, file);
  if (status.ok()) *file = new CountedFile(*file, CounterOf(path));
  return status;
}

leveldb::Status LevelDbLedger::NewLogger(const std::string& path, leveldb::Logger** logger) {
  const leveldb::Status status = target()->NewLogger(path, logger);
  if (status.ok()) *logger = new ListeningLogger(*logger, this);
  return status;
}

void LevelDbLedger::ExpectFlush(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  flushes_.insert(number);
}

LevelDbLedger::Counter* LevelDbLedger::CounterOf(const std::string& path) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (name.ends_with(".log")) return &log_;
  if (name.starts_with("MANIFEST-") || name.ends_with(".dbtmp")) return &manifest_;  // renamed to CURRENT
  if (!name.ends_with(".ldb")) return &other_;
  const std::lock_guard lock(mutex_);
  return flushes_.erase(std::strtoull(name.data(), nullptr, 10)) > 0 ? &flush_ : &merge_;
}

}  // namespace cambium::bench
