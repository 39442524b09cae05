// Transactions of several threads read lists and append to them. Afterwards each list shows the order of its appends,
// and each transaction knows what it has read. From that follows which transaction must be before which:
//
//   it appended before    the next element of a list is of a transaction that comes after
//   it was read           a transaction that has read an element comes after the one that appended it
//   it was not seen       a transaction that has read a list without its next element comes before the one that
//                         appended that element
//
// If these rules lead in a circle, no order of the transactions explains what happened: they are not serializable.
// (This is how Elle finds anomalies: Kingsbury and Alvaro, VLDB 2020.)
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cambium/logger.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "io/sim/sim_file_system.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/small_options.h"
#include "util/prng.h"

namespace cambium::testing::serial_order_test {
namespace {

using TransactionPtr = std::unique_ptr<Transaction>;
using List = std::vector<int>;  // ids of transactions, in the order in which they appended

// A committed transaction: the lists that it has read, without its own appends, and those that it has appended to.
struct Committed {
  int id = 0;
  std::map<std::string, List> read;
  std::vector<std::string> appended;
};

List Parse(const std::string& text) {
  List list;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = 0;
    list.push_back(std::stoi(text.substr(at), &end));
    at += end + 1;
  }
  return list;
}

// How the transactions read: single lists, or all lists of a range by a scan, of which many do not exist yet.
enum class Reads { kKeys, kKeysForUpdate, kScansForUpdate, kScansOfTrackedRanges };

// Runs transactions that read two or three lists, and append to one or two of them.
class Workload {
 public:
  Workload(DB* db, std::function<TransactionPtr()> begin, Reads reads)
      : db_(db), begin_(std::move(begin)), reads_(reads), list_count_(scans() ? 120 : 6) {}

  void Run(int thread_count, std::uint64_t rounds, std::uint64_t seed) {
    std::vector<std::vector<Committed>> committed(static_cast<std::size_t>(thread_count));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < committed.size(); ++t) {
      threads.emplace_back([&, t] {
        Prng prng(seed + t);
        for (std::uint64_t i = 0; i < rounds; ++i) RunOne(&prng, &committed[t]);
      });
    }
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(db_->Flush({}).ok());
    });
    for (std::thread& thread : threads) thread.join();
    for (std::vector<Committed>& each : committed) {
      for (Committed& one : each) all_.push_back(std::move(one));
    }
  }

  [[nodiscard]] std::size_t commits() const { return all_.size(); }

  // "" if the committed transactions have an order that explains all they have read.
  std::string FindAnomaly() {
    std::map<int, std::vector<int>> after;  // of each transaction, those that must come after it
    std::map<std::string, List> lists;
    for (std::uint64_t i = 0; i < list_count_; ++i) {
      std::string text;
      const std::string key = KeyOf(i);
      if (db_->Get({}, key, &text).ok()) lists[key] = Parse(text);
      for (std::size_t at = 1; at < lists[key].size(); ++at) after[lists[key][at - 1]].push_back(lists[key][at]);
    }
    for (const Committed& one : all_) {
      for (const std::string& key : one.appended) {
        if (std::count(lists[key].begin(), lists[key].end(), one.id) != 1) {
          return "the append of " + std::to_string(one.id) + " to " + key + " is lost";
        }
      }
      for (const auto& [key, read] : one.read) {
        const List& list = lists[key];
        if (read.size() > list.size() || !std::equal(read.begin(), read.end(), list.begin())) {
          return std::to_string(one.id) + " has read what " + key + " never was";
        }
        if (!read.empty()) after[read.back()].push_back(one.id);
        if (read.size() < list.size() && list[read.size()] != one.id) after[one.id].push_back(list[read.size()]);
      }
    }
    return FindCircle(after);
  }

 private:
  static std::string KeyOf(std::uint64_t i) { return "list" + std::to_string(1000 + i); }
  [[nodiscard]] bool scans() const { return reads_ != Reads::kKeys && reads_ != Reads::kKeysForUpdate; }

  // Reads lists that are neighbours. False: the transaction has failed.
  bool Scan(Prng* prng, Transaction* transaction, Committed* one) {
    const std::uint64_t first = prng->Uniform(list_count_ - 3);
    const std::string end = KeyOf(first + 4);
    if (reads_ == Reads::kScansOfTrackedRanges && !transaction->TrackRange(KeyOf(first), end).ok()) return false;
    for (std::uint64_t i = first; i < first + 4; ++i) one->read.try_emplace(KeyOf(i));
    const std::unique_ptr<Iterator> it(transaction->GetIterator({}));
    for (it->Seek(KeyOf(first)); it->Valid() && it->key() < Slice(end); it->Next()) {
      std::string text = it->value().ToString();
      if (reads_ == Reads::kScansForUpdate && !transaction->GetForUpdate({}, it->key(), &text).ok()) return false;
      one->read[it->key().ToString()] = Parse(text);
    }
    const std::string key = KeyOf(first + prng->Uniform(4));
    std::string text;
    for (const int id : one->read[key]) text += std::to_string(id) + " ";
    if (!it->status().ok() || !transaction->Put(key, text + std::to_string(one->id)).ok()) return false;
    one->appended.push_back(key);
    return true;
  }

  void RunOne(Prng* prng, std::vector<Committed>* committed) {
    Committed one;
    one.id = next_id_.fetch_add(1);
    const TransactionPtr transaction = begin_();
    if (scans()) {
      if (Scan(prng, transaction.get(), &one) && transaction->Commit().ok()) committed->push_back(std::move(one));
      return;
    }
    const std::uint64_t reads = 2 + prng->Uniform(2);
    for (std::uint64_t i = 0; i < reads; ++i) {
      const std::string key = KeyOf(prng->Uniform(list_count_));
      if (one.read.contains(key)) continue;
      std::string text;
      const Status s = reads_ == Reads::kKeysForUpdate ? transaction->GetForUpdate({}, key, &text)
                                                       : transaction->Get({}, key, &text);
      if (!s.ok() && !s.IsNotFound()) return;
      one.read[key] = Parse(text);
      if (prng->OneIn(2)) continue;
      text += (text.empty() ? "" : " ") + std::to_string(one.id);
      if (!transaction->Put(key, text).ok()) return;
      one.appended.push_back(key);
    }
    if (transaction->Commit().ok()) committed->push_back(std::move(one));
  }

  static std::string FindCircle(const std::map<int, std::vector<int>>& after) {
    std::map<int, int> state;  // 1: on the path, 2: leads to no circle
    std::vector<std::pair<int, std::size_t>> path;
    for (const auto& [first, ignored] : after) {
      if (state[first] != 0) continue;
      path.emplace_back(first, 0);
      state[first] = 1;
      while (!path.empty()) {
        auto& [id, at] = path.back();
        const auto its = after.find(id);
        if (its == after.end() || at == its->second.size()) {
          state[id] = 2;
          path.pop_back();
          continue;
        }
        const int next = its->second[at++];
        if (state[next] == 1)
          return "transactions " + std::to_string(next) + " to " + std::to_string(id) + " form a circle";
        if (state[next] == 2) continue;
        state[next] = 1;
        path.emplace_back(next, 0);
      }
    }
    return "";
  }

  DB* const db_;
  const std::function<TransactionPtr()> begin_;
  const Reads reads_;
  const std::uint64_t list_count_;
  std::atomic<int> next_id_{1};
  std::vector<Committed> all_;
};

Options SimulatedOptions() {
  Options options = SmallOptions();
  options.file_system = std::make_shared<SimFileSystem>();
  options.info_log = NullLogger();
  options.min_blob_size = 300;  // lists become separated values as they grow
  return options;
}

// Returns the anomaly; adds the number of commits.
std::string RunOptimistic(Reads reads, std::uint64_t seed, std::size_t* commits) {
  std::unique_ptr<OptimisticTransactionDB> db;
  EXPECT_TRUE(OptimisticTransactionDB::Open(SimulatedOptions(), "/db", &db).ok());
  Workload workload(
      db.get(), [&] { return TransactionPtr(db->BeginTransaction({})); }, reads);
  workload.Run(4, ScaledCount(150), seed);
  *commits += workload.commits();
  return workload.FindAnomaly();
}

TEST(SerialOrderTest, OptimisticTransactionsThatReadForUpdateAreSerializable) {
  std::size_t commits = 0;
  EXPECT_EQ(RunOptimistic(Reads::kKeysForUpdate, SeedFromEnvironment(11), &commits), "");
  EXPECT_GT(commits, 20u);
}

// Snapshot isolation alone allows write skew, and the checker sees it. One run may have none.
TEST(SerialOrderTest, TheCheckerFindsWriteSkewUnderSnapshotIsolation) {
  const std::uint64_t seed = SeedFromEnvironment(12);
  std::size_t commits = 0;
  bool is_found = false;
  for (std::uint64_t round = 0; round < 200 && !is_found; ++round) {
    const std::string anomaly = RunOptimistic(Reads::kKeys, seed + 100 * round, &commits);
    EXPECT_TRUE(anomaly.empty() || anomaly.ends_with("form a circle")) << anomaly;
    is_found = !anomaly.empty();
  }
  EXPECT_TRUE(is_found);
}

// Returns the anomaly; adds the number of commits.
std::string RunPessimistic(Reads reads, std::uint64_t seed, std::size_t* commits) {
  std::unique_ptr<TransactionDB> db;
  EXPECT_TRUE(TransactionDB::Open(SimulatedOptions(), {.transaction_lock_timeout = 100}, "/db", &db).ok());
  const auto begin = [&] { return TransactionPtr(db->BeginTransaction({}, {.deadlock_detect = true})); };
  Workload workload(db.get(), begin, reads);
  workload.Run(4, ScaledCount(150), seed);
  *commits += workload.commits();
  return workload.FindAnomaly();
}

TEST(SerialOrderTest, PessimisticTransactionsThatReadForUpdateAreSerializable) {
  std::size_t commits = 0;
  EXPECT_EQ(RunPessimistic(Reads::kKeysForUpdate, SeedFromEnvironment(13), &commits), "");
  EXPECT_GT(commits, 20u);
}

TEST(SerialOrderTest, TransactionsThatScanTrackedRangesAreSerializable) {
  std::size_t optimistic = 0;
  EXPECT_EQ(RunOptimistic(Reads::kScansOfTrackedRanges, SeedFromEnvironment(14), &optimistic), "");
  EXPECT_GT(optimistic, 20u);
  std::size_t pessimistic = 0;
  EXPECT_EQ(RunPessimistic(Reads::kScansOfTrackedRanges, SeedFromEnvironment(15), &pessimistic), "");
  EXPECT_GT(pessimistic, 20u);
}

// A scan that reads what it finds for update does not see what appears: the checker finds the phantoms. One run may
// have none.
TEST(SerialOrderTest, TheCheckerFindsPhantomsInRangesThatAreNotTracked) {
  const std::uint64_t seed = SeedFromEnvironment(16);
  for (const auto run : {RunOptimistic, RunPessimistic}) {
    std::size_t commits = 0;
    bool is_found = false;
    for (std::uint64_t round = 0; round < 200 && !is_found; ++round) {
      const std::string anomaly = run(Reads::kScansForUpdate, seed + 100 * round, &commits);
      is_found = !anomaly.empty();
    }
    EXPECT_TRUE(is_found);
  }
}

}  // namespace
}  // namespace cambium::testing::serial_order_test
