// Many threads are traced while traces start and end.
#include <thread>
#include <vector>

#include "threads/threads_fixture.h"
#include "threads/watchdog.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr int kWorkers = 4;
constexpr int kRounds = 800;

class TraceThreadsTest : public DbThreadsTest {
 protected:
  // Puts the worker's own keys with values of increasing length, reads them, and scans.
  void Work(int worker) {
    Prng prng(seed_ + static_cast<std::uint64_t>(worker));
    for (int round = 1; round <= kRounds && !complaints_.any(); ++round) {
      const std::string key = std::to_string(worker) + "-" + std::to_string(prng.Uniform(50));
      if (!Ok(db_->Put({}, key, std::string(static_cast<std::size_t>(round), 'v')), "put")) return;
      std::string value;
      if (!Ok(db_->Get({}, key, &value), "get")) return;
      if (round % 16 != 0) continue;
      const std::unique_ptr<Iterator> it(db_->NewIterator({}));
      it->Seek(key);
      for (int i = 0; i < 5 && it->Valid(); ++i) it->Next();
    }
  }
  [[nodiscard]] std::string TracePath(int i) const { return directory_.File("trace" + std::to_string(i)); }

  // Checks that the trace is complete: each worker's puts are in order, each get has the length of the put before it,
  // and each iterator ends after its seek. Returns the number of records.
  std::uint64_t CheckTrace(const std::string& path) {
    std::unique_ptr<TraceReader> reader;
    const Status opened = NewFileTraceReader(nullptr, path, &reader);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    if (!opened.ok()) return 0;
    std::vector<std::uint64_t> newest(kWorkers);
    std::vector<bool> open_scans(1);
    TraceRecord record;
    Status read;
    std::uint64_t records = 0;
    while ((read = reader->Read(&record)).ok()) {
      if (record.type != kTraceEnd) ++records;
      if (record.type == kTraceIteratorSeek) {
        open_scans.resize(std::max<std::size_t>(open_scans.size(), record.scan + 1));
        open_scans[record.scan] = true;
      }
      if (record.type == kTraceIteratorDone) {
        EXPECT_TRUE(record.scan < open_scans.size() && open_scans[record.scan]);
        open_scans[record.scan] = false;
      }
      if (record.type == kTraceEnd) {
        EXPECT_EQ(record.records, records);
      }
      if (record.type != kTraceWrite && record.type != kTraceGet) continue;
      std::uint64_t& length = newest[static_cast<std::size_t>(record.ops.front().key[0] - '0')];
      if (record.type == kTraceWrite) {
        EXPECT_GT(record.ops.front().value_size, length);
        length = record.ops.front().value_size;
      } else if (length != 0) {
        EXPECT_EQ(record.ops.front().value_size, length);
      }
    }
    EXPECT_TRUE(read.IsIncomplete()) << read.ToString();
    EXPECT_TRUE(reader->IsWhole());
    return records;
  }
};

TEST_F(TraceThreadsTest, OperationsOfAThreadAreTracedInOrder) {
  for (const bool in_order : {false, true}) {
    Open(TinyOptions());
    TraceOptions options;
    options.preserve_write_order = in_order;
    const std::string path = TracePath(in_order ? 1 : 0);
    ASSERT_TRUE(db_->StartTrace(options, path).ok());
    std::vector<std::thread> threads;
    for (int worker = 0; worker < kWorkers; ++worker) threads.emplace_back([this, worker] { Work(worker); });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(complaints_.first(), "");
    ASSERT_TRUE(db_->EndTrace().ok());
    EXPECT_EQ(CheckTrace(path), static_cast<std::uint64_t>(kWorkers) * (2 * kRounds + 2 * (kRounds / 16)));
    CloseAndVerify();
  }
}

TEST_F(TraceThreadsTest, TracesStartAndEndDuringOperations) {
  Open(TinyOptions());
  std::atomic<int> working{kWorkers};
  std::vector<std::thread> threads;
  for (int worker = 0; worker < kWorkers; ++worker) {
    threads.emplace_back([this, worker, &working] {
      Work(worker);
      working.fetch_sub(1);
    });
  }
  int traces = 0;
  std::uint64_t records = 0;
  for (; working.load() > 0; ++traces) {
    const std::string path = TracePath(traces);
    ASSERT_TRUE(db_->StartTrace({}, path).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(db_->EndTrace().ok());
    records += CheckTrace(path);
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(complaints_.first(), "");
  EXPECT_GT(records, 0u);
  CloseAndVerify();
}

}  // namespace
}  // namespace cambium::testing
