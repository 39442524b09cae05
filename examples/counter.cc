// A counter that several threads add to, in three ways. None of them loses an addition.
//
//   optimistic   no thread waits; a commit that meets another one is repeated. Suits counters that few threads want
//   locks        threads wait for each other; nothing is repeated. Suits a counter that many want
//   shards       each thread adds to a key of its own, and a read adds them up. Suits a counter that is rarely read
#include <cambium/optimistic_transaction_db.h>
#include <cambium/transaction_db.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using cambium::DB;
using cambium::Status;
using cambium::Transaction;

constexpr int kThreads = 4;
constexpr int kAdditions = 250;  // each thread makes so many

// Adds 1 to a key in a transaction that has begun.
Status AddOne(Transaction* transaction, const std::string& key) {
  std::string value = "0";
  Status s = transaction->GetForUpdate({}, key, &value);
  if (s.ok() || s.IsNotFound()) s = transaction->Put(key, std::to_string(std::stoll(value) + 1));
  if (s.ok()) s = transaction->Commit();
  return s;
}

Status AddOptimistically(DB* db, const std::string& key, std::atomic<int>* repeats) {
  while (true) {
    const std::unique_ptr<Transaction> transaction(cambium::BeginOptimisticTransaction(db, {}));
    if (transaction == nullptr) return Status::Aborted("the database takes no writes");
    const Status s = AddOne(transaction.get(), key);
    if (!s.IsBusy() && !s.IsTryAgain()) return s;
    ++*repeats;
  }
}

// GetForUpdate waits while another transaction has the lock.
Status AddWithLock(cambium::TransactionDB* db, const std::string& key) {
  cambium::TransactionOptions options;
  options.lock_timeout = 60 * 1000;
  const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}, options));
  if (transaction == nullptr) return Status::Aborted("the database takes no writes");
  return AddOne(transaction.get(), key);
}

// Runs `add` kAdditions times in each thread. Returns the first error.
template <typename Add>
Status InThreads(Add add) {
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Status& s = results[static_cast<std::size_t>(i)];
      for (int n = 0; n < kAdditions && s.ok(); ++n) s = add(i);
    });
  }
  for (std::thread& each : threads) each.join();
  for (Status& each : results) {
    if (!each.ok()) return std::move(each);
  }
  return Status::OK();
}

// Adds up the keys that begin with `prefix`.
Status Sum(DB* db, const std::string& prefix, long long* sum) {
  const std::unique_ptr<cambium::Iterator> it(db->NewIterator({}));
  *sum = 0;
  for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
    *sum += std::stoll(it->value().ToString());
  }
  return it->status();
}

Status Run(const std::string& path) {
  cambium::Options options;
  options.create_if_missing = true;
  std::unique_ptr<cambium::TransactionDB> db;
  if (Status s = cambium::TransactionDB::Open(options, {}, path, &db); !s.ok()) return s;
  for (const char* const prefix : {"locks/", "shards/"}) {  // deletes what an earlier run has left
    for (int i = 0; i < kThreads; ++i) {
      if (Status s = db->Delete({}, prefix + std::to_string(i)); !s.ok()) return s;
    }
  }

  long long sum = 0;
  Status s = InThreads([&](int) { return AddWithLock(db.get(), "locks/0"); });
  if (s.ok()) s = Sum(db.get(), "locks/", &sum);
  if (!s.ok()) return s;
  std::printf("with locks: %lld\n", sum);
  if (sum != kThreads * kAdditions) return Status::Corruption("additions are lost");

  s = InThreads([&](int thread) { return AddWithLock(db.get(), "shards/" + std::to_string(thread)); });
  if (s.ok()) s = Sum(db.get(), "shards/", &sum);
  if (!s.ok()) return s;
  std::printf("in shards: %lld\n", sum);
  if (sum != kThreads * kAdditions) return Status::Corruption("additions are lost");
  if (s = db->Close(); !s.ok()) return s;
  db.reset();

  // The same files as a database without locks.
  std::unique_ptr<DB> plain;
  std::atomic<int> repeats{0};
  s = DB::Open(options, path, &plain);
  if (s.ok()) s = plain->Delete({}, "optimistic/0");
  if (s.ok()) s = InThreads([&](int) { return AddOptimistically(plain.get(), "optimistic/0", &repeats); });
  if (s.ok()) s = Sum(plain.get(), "optimistic/", &sum);
  if (!s.ok()) return s;
  std::printf("optimistic: %lld, after %d repeats\n", sum, repeats.load());
  if (sum != kThreads * kAdditions) return Status::Corruption("additions are lost");
  return plain->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const Status s = Run(argc > 1 ? argv[1] : "counter.db");
  if (!s.ok()) std::printf("%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
