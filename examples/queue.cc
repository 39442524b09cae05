// A queue on disk. Several workers take jobs, and each job is done once.
//
//   ready/NUMBER    -> job      waits; jobs are taken in the order of their numbers
//   taken/NUMBER    -> job      a worker has it
//   next            -> NUMBER   of the next job
//
// A worker moves a job from "ready" to "taken" in one transaction, and deletes it when it is done. If a job is in
// "taken" when the program starts, its worker has ended before, by a crash for example: the job is made ready again.
// So the work may begin twice, but its result is written once: Finish writes it in the transaction that deletes the
// job.
#include <cambium/transaction_db.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using cambium::Status;
using cambium::Transaction;
using cambium::TransactionDB;

struct Job {
  std::string number;
  std::string text;
};

// Numbers of equal length, so that the order of the keys is that of the numbers.
std::string Number(long long number) {
  char text[32];
  std::snprintf(text, sizeof text, "%012lld", number);
  return text;
}

class Queue {
 public:
  static Status Open(const std::string& path, std::unique_ptr<Queue>* queue) {
    cambium::Options options;
    options.create_if_missing = true;
    cambium::TransactionDBOptions transactions;
    transactions.transaction_lock_timeout = 60 * 1000;
    queue->reset(new Queue);
    Status s = TransactionDB::Open(options, transactions, path, &(*queue)->db_);
    return s.ok() ? (*queue)->MakeReadyAgain() : s;
  }

  Status Add(const std::string& text) {
    const std::unique_ptr<Transaction> transaction = Begin();
    std::string next = "0";
    Status s = transaction->GetForUpdate({}, "next", &next);  // one writer at a time
    if (!s.ok() && !s.IsNotFound()) return s;
    s = transaction->Put("ready/" + Number(std::stoll(next)), text);
    if (s.ok()) s = transaction->Put("next", std::to_string(std::stoll(next) + 1));
    return s.ok() ? transaction->Commit() : s;
  }

  // Takes the first job that no other worker is taking at this moment. *job is empty if there is none.
  Status Take(std::optional<Job>* job) {
    job->reset();
    const std::unique_ptr<Transaction> transaction = Begin();
    transaction->SetLockTimeout(0);  // do not wait for a job that another worker is taking
    std::unique_ptr<cambium::Iterator> it(transaction->GetIterator({}));
    for (it->Seek("ready/"); it->Valid() && it->key().starts_with("ready/"); it->Next()) {
      const std::string key = it->key().ToString();
      std::string text;
      Status s = transaction->GetForUpdate({}, key, &text);
      if (s.IsTimedOut() || s.IsNotFound()) continue;  // another worker has it, or has had it
      it.reset();  // before the transaction writes and ends
      const std::string number = key.substr(sizeof "ready/" - 1);
      if (s.ok()) s = transaction->Delete(key);
      if (s.ok()) s = transaction->Put("taken/" + number, text);
      if (s.ok()) *job = Job{number, text};
      return s.ok() ? Commit(transaction, job) : s;
    }
    return it->status();
  }

  // The job is done: writes its result, and deletes it, or neither.
  Status Finish(const Job& job, const std::string& result) {
    const std::unique_ptr<Transaction> transaction = Begin();
    Status s = transaction->Delete("taken/" + job.number);
    if (s.ok()) s = transaction->Put("result/" + job.number, result);
    return s.ok() ? transaction->Commit() : s;
  }

  // Counts the keys that begin with `prefix`.
  Status Count(const std::string& prefix, int* count) {
    const std::unique_ptr<cambium::Iterator> it(db_->NewIterator({}));
    *count = 0;
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) ++*count;
    return it->status();
  }
  // Forgets the results, so that the program can run again.
  Status DeleteResults() {
    const std::unique_ptr<cambium::Iterator> it(db_->NewIterator({}));
    for (it->Seek("result/"); it->Valid() && it->key().starts_with("result/"); it->Next()) {
      if (Status s = db_->Delete({}, it->key()); !s.ok()) return s;
    }
    return it->status();
  }

 private:
  Queue() = default;
  std::unique_ptr<Transaction> Begin() { return std::unique_ptr<Transaction>(db_->BeginTransaction({})); }

  // Commits. After an error, empties *job.
  static Status Commit(const std::unique_ptr<Transaction>& transaction, std::optional<Job>* job) {
    Status s = transaction->Commit();
    if (!s.ok()) job->reset();
    return s;
  }

  Status MakeReadyAgain() {
    const std::unique_ptr<Transaction> transaction = Begin();
    {
      const std::unique_ptr<cambium::Iterator> it(transaction->GetIterator({}));
      for (it->Seek("taken/"); it->Valid() && it->key().starts_with("taken/"); it->Next()) {
        const std::string key = it->key().ToString();
        const std::string text = it->value().ToString();
        Status s = transaction->Delete(key);
        if (s.ok()) s = transaction->Put("ready/" + key.substr(sizeof "taken/" - 1), text);
        if (!s.ok()) return s;
      }
      if (!it->status().ok()) return it->status();
    }
    return transaction->Commit();
  }

  std::unique_ptr<TransactionDB> db_;
};

Status Run(const std::string& path) {
  constexpr int kJobs = 40;
  constexpr int kWorkers = 4;
  std::unique_ptr<Queue> queue;
  Status s = Queue::Open(path, &queue);
  if (s.ok()) s = queue->DeleteResults();
  for (int i = 0; i < kJobs && s.ok(); ++i) s = queue->Add("water tree " + std::to_string(i));
  // A worker that ends without Finish. Its job is ready again when the queue is opened.
  std::optional<Job> lost;
  if (s.ok()) s = queue->Take(&lost);
  queue.reset();
  if (s.ok()) s = Queue::Open(path, &queue);
  if (!s.ok()) return s;

  std::vector<Status> results(kWorkers);
  std::vector<std::thread> workers;
  std::atomic<int> done{0};
  for (Status& each : results) {
    workers.emplace_back([&queue, &done, &each] {
      std::optional<Job> job;
      while (each.ok()) {
        each = queue->Take(&job);
        if (!each.ok() || !job) break;
        each = queue->Finish(*job, job->text + ": done");
        ++done;
      }
    });
  }
  for (std::thread& each : workers) each.join();
  for (Status& each : results) {
    if (!each.ok()) return std::move(each);
  }

  // A worker stops if other workers are taking all jobs that are left. If one of these takes fails, its job is left.
  std::optional<Job> job;
  for (s = queue->Take(&job); s.ok() && job; s = queue->Take(&job)) {
    if (s = queue->Finish(*job, job->text + ": done"); !s.ok()) return s;
    ++done;
  }
  int with_result = 0;
  if (s.ok()) s = queue->Count("result/", &with_result);
  if (!s.ok()) return s;
  std::printf("%d jobs, %d done, %d results\n", kJobs, done.load(), with_result);
  return done == kJobs && with_result == kJobs ? Status::OK() : Status::Corruption("a job was lost, or done twice");
}

}  // namespace

int main(int argc, char** argv) {
  const Status s = Run(argc > 1 ? argv[1] : "queue.db");
  if (!s.ok()) std::printf("%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
