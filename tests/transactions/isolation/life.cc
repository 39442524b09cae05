#include "transactions/isolation/life.h"

#include <memory>
#include <thread>
#include <utility>

#include "transactions/isolation/keys.h"

namespace cambium::testing::isolation {
namespace {

// Flushes, compacts and syncs until the clients have ended.
class Housekeeper {
 public:
  Housekeeper(LifeContext* life, std::uint64_t seed, Client::Journal journal)
      : life_(*life), prng_(seed), journal_(std::move(journal)) {}
  void Run(const std::atomic<std::uint32_t>* clients_left) {
    while (clients_left->load() > 0 && !life_.has_ended.load() && problem_.empty()) {
      const std::uint64_t what = prng_.Uniform(12);
      DB& db = life_.store->db();
      if (what < 2) Check(db.Flush({}), "Flush");
      if (what == 2) Check(db.CompactRange({}, nullptr, nullptr), "CompactRange");
      if (what == 3) Sync();
      life_.rest();
    }
  }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  void Check(const Status& s, const char* call) {
    if (!s.ok() && !life_.has_ended.load()) problem_ = std::string(call) + ": " + s.ToString();
  }
  void Sync() {
    const Time call = life_.Now();
    const Status s = life_.store->db().SyncWAL();
    Check(s, "SyncWAL");
    if (s.ok()) journal_("synced " + std::to_string(call) + " " + std::to_string(life_.Now()) + "\n");
  }

  LifeContext& life_;
  Prng prng_;
  const Client::Journal journal_;
  std::string problem_;
};

// A prepared transaction, as the next life sees it: the keys that it has locked are as it has read them until it ends.
TxRecord Inherited(TxRecord tx) {
  std::erase_if(tx.ops, [](const Op& op) { return op.is_undone || op.kind == Op::Kind::kUndo; });  // not locked
  if (tx.level == Level::kSnapshot) {  // it has locked only what it writes
    std::set<std::string> written;
    for (const Op& op : tx.ops) {
      if (op.kind != Op::Kind::kRead) written.insert(op.key);
    }
    std::erase_if(tx.ops, [&](const Op& op) { return op.kind == Op::Kind::kRead && !written.contains(op.key); });
    tx.level = Level::kSerializable;
  }
  tx.sees_snapshot = false;
  tx.is_synced = true;  // Open sets WriteOptions::sync
  tx.begin_call = tx.begin_return = tx.prepare_call = tx.prepare_return = 0;
  tx.commit_call = tx.commit_return = tx.rollback_call = kNever;
  tx.is_prepare_synced = true;  // what a recovery has found is durable
  tx.outcome = Outcome::kPrepared;
  return tx;
}

}  // namespace

std::string RunClients(LifeContext* life, std::uint64_t transactions, std::uint64_t seed,
                       const std::function<Client::Journal(std::uint32_t)>& journal_of, Figures* figures) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::uint32_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(life, i, seed * 100 + i, journal_of(i)));
  }
  if (life->store->pessimistic() != nullptr) {
    std::size_t next = 0;
    for (TransactionPtr& each : life->store->pessimistic()->TakeRecoveredTransactions()) {
      clients[next++ % kClients]->Take(std::move(each));
    }
  }
  std::atomic<std::uint32_t> clients_left{kClients};
  Housekeeper housekeeper(life, seed * 100 + kClients, journal_of(kClients));
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Client>& client : clients) {
    threads.emplace_back([&clients_left, &client, transactions] {
      client->Run((transactions + kClients - 1) / kClients);
      clients_left.fetch_sub(1);
    });
  }
  housekeeper.Run(&clients_left);
  for (std::thread& thread : threads) thread.join();
  std::string problem = housekeeper.problem();
  for (const std::unique_ptr<Client>& client : clients) {
    figures->Add(client->figures());
    if (problem.empty()) problem = client->problem();
  }
  return problem;
}

void Biography::Begin(State found) { base_ = std::move(found); }

std::string Biography::Read(const std::vector<std::string>& journals, History* history) const {
  history->base = base_;
  for (const auto& [id, tx] : prepared_) history->transactions.push_back(tx);
  for (const std::string& journal : journals) {
    const std::string malformed = ParseLines(journal, history);
    if (!malformed.empty()) return "a journal has the line " + malformed;
  }
  return "";
}

std::string Biography::End(const History& history, const LifeEnd& end, State found) {
  std::string wrong = CheckLife(history, end, found);
  prepared_.clear();
  for (const TxRecord& tx : history.transactions) {
    if (found.prepared.contains(tx.id)) prepared_.emplace(tx.id, Inherited(tx));
  }
  base_ = std::move(found);
  return wrong;
}

}  // namespace cambium::testing::isolation
