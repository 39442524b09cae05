// The workload `transaction`: each transaction reads a few keys for update, writes the same keys, and commits. After a
// conflict it is repeated with the same keys.
//
// A lost update shows at the end. The version of a value that is written counts how often transactions of this phase
// have written the key:
//
//    bits  field
//   63-48  ordinal of the phase
//   47-0   count
//
// A transaction adds 1 to the count that it has read, or begins with 1 if the value is not of this phase. So at the end
// the sum of all counts is the number of keys that were written by committed transactions.
#include <algorithm>
#include <optional>
#include <vector>

#include "data/key.h"
#include "data/permutation.h"
#include "data/zipf.h"
#include "system/interrupt.h"
#include "workloads/entry_check.h"
#include "workloads/lookup.h"
#include "workloads/workload.h"

namespace cambium::bench {
namespace {

constexpr unsigned kCountBits = 48;

// Returns the count in a version, if the phase made it.
std::uint64_t CountIn(std::optional<std::uint64_t> version, const Phase& phase) {
  if (!version.has_value() || *version >> kCountBits != phase.ordinal) return 0;
  return *version & ((std::uint64_t{1} << kCountBits) - 1);
}
std::uint64_t VersionWith(std::uint64_t count, const Phase& phase) { return phase.ordinal << kCountBits | count; }

// Warm keys lie anywhere in the key space.
struct ScatteredZipf : SharedState {
  explicit ScatteredZipf(const Phase& phase)
      : ranks(phase.key_space, phase.flags.transaction.zipf), order(phase.key_space, phase.seed) {}
  const Zipf ranks;
  const Permutation order;
};

// Used by one thread.
class TransactionOps {
 public:
  TransactionOps(Worker* worker, Transactions* transactions)
      : worker_(worker),
        transactions_(transactions),
        key_(worker->phase.key_shape),
        values_(worker->phase.pool),
        ids_(worker->phase.flags.transaction.keys),
        counts_(ids_.size()) {}

  // Chooses different keys for the next transaction.
  void Draw() {
    for (auto id = ids_.begin(); id != ids_.end();) {
      *id = RandomId();
      if (std::find(ids_.begin(), id, *id) == id) ++id;
    }
  }

  // Returns Busy after a conflict; the worker's status is then unchanged. *bytes: keys and values that were read and
  // written; *written: of those that were written.
  Status Attempt(std::uint64_t* bytes, std::uint64_t* written) {
    *bytes = 0;
    *written = 0;
    Status status = transactions_->Begin();
    for (std::size_t i = 0; i < ids_.size() && status.ok(); ++i) status = Read(i, bytes);
    for (std::size_t i = 0; i < ids_.size() && status.ok(); ++i) status = Put(i, written);
    if (status.ok()) status = transactions_->Commit();
    *bytes += *written;
    return status;
  }

 private:
  std::uint64_t RandomId() {
    if (worker_->phase.state == nullptr) return worker_->RandomId();
    const auto& zipf = static_cast<const ScatteredZipf&>(*worker_->phase.state);
    return zipf.order.At(zipf.ranks.Next(&worker_->random));
  }

  Status Read(std::size_t i, std::uint64_t* bytes) {
    Slice value;
    const Status status = transactions_->ReadForUpdate(key_.Make(ids_[i]), &value);
    if (!status.ok() && !status.IsNotFound()) return status;
    *bytes += TakeAnswer(worker_, ids_[i], status.ok() ? Lookup::kFound : Lookup::kMissing, value);
    counts_[i] = status.ok() ? CountIn(VersionInValue(value), worker_->phase) : 0;
    return worker_->status;
  }

  Status Put(std::size_t i, std::uint64_t* written) {
    const Slice value = values_.Make(ids_[i], VersionWith(counts_[i] + 1, worker_->phase));
    const Slice key = key_.Make(ids_[i]);
    worker_->phase.keys.Insert(ids_[i], value.size());  // first: others may see it before the commit returns
    *written += key.size() + value.size();
    return transactions_->Put(key, value);
  }

  Worker* worker_;
  Transactions* transactions_;
  KeyBuffer key_;
  ValueMaker values_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::uint64_t> counts_;  // read with ids_
};

}  // namespace

std::string ComplainOfTransactions(const BenchFlags& flags) {
  if (flags.transaction.keys > flags.num) return "--num has too few keys for --transaction_keys";
  if (flags.transaction.zipf > 0 && flags.read_random_exp_range > 0) {
    return "--transaction_zipf and --read_random_exp_range both say which keys are warm";
  }
  if (flags.source.empty() && ValueSizesOf(flags).min < kValueHeaderSize) {
    return "values count the transactions that have written them, for which they need at least 16 bytes";
  }
  return {};
}

std::shared_ptr<const SharedState> PrepareTransactions(const Phase& phase) {
  return phase.flags.transaction.zipf == 0 ? nullptr : std::make_shared<ScatteredZipf>(phase);
}

void RunTransactions(Worker* w) {
  const std::unique_ptr<Transactions> transactions = w->session.NewTransactions();
  if (transactions == nullptr) {
    w->status = w->session.error();
    if (w->status.ok()) w->status = Status::InvalidArgument("the engine was not opened for transactions");
    return;
  }
  TransactionOps ops(w, transactions.get());
  w->meter.Begin();
  while (w->meter.More()) {
    ops.Draw();
    std::uint64_t bytes = 0;
    std::uint64_t written = 0;
    Status status = ops.Attempt(&bytes, &written);
    while (status.IsBusy() && !w->meter.stop().load(std::memory_order_relaxed)) {
      ++w->aborts;
      status = ops.Attempt(&bytes, &written);
    }
    if (!status.ok()) {
      if (!status.IsBusy()) w->status = status;
      return;
    }
    w->written_bytes += written;
    w->meter.Finish(1, bytes);
  }
}

// Compares nothing in a database of an earlier run, whose values may look like those of this phase.
Status CheckTransactions(const Phase& phase, Session* session, std::uint64_t commits) {
  phase.keys.ForgetAllLast();
  if (!phase.keys.known()) return {};
  EntryCheck check(phase, true);
  std::uint64_t sum = 0;
  std::uint64_t bytes = 0;
  const std::unique_ptr<Cursor> cursor = session->NewCursor(Fetch::kEntries);
  for (bool valid = cursor->SeekToFirst(); valid; valid = cursor->Next()) {
    if (Interrupted().load(std::memory_order_relaxed)) return Status::Aborted("interrupted");
    Status status = CheckEntry<Fetch::kEntries>(&check, cursor.get(), &bytes);
    if (!status.ok()) return status;
    const Slice value = cursor->value();
    const std::optional<std::uint64_t> version = VersionInValue(value);
    sum += CountIn(version, phase);
    phase.keys.SetLast(IdInValue(value), version.value_or(0));
  }
  if (Status status = cursor->status(); !status.ok()) return status;
  const std::uint64_t writes = commits * phase.flags.transaction.keys;
  if (sum == writes) return {};
  return Status::Corruption("committed transactions have written " + std::to_string(writes) +
                            " keys, but the counts in the values add up to " + std::to_string(sum));
}

}  // namespace cambium::bench
