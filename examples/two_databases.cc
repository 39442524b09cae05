// A transfer between two databases that takes effect in both or in neither, also after a crash at any point.
//
//   1  each database prepares its part, under the same name
//   2  "decided/NAME" is written to the coordinator's database, synced: from here on the transfer takes place
//   3  each database commits its part
//   4  "decided/NAME" is deleted
//
// After a crash, a part that is still prepared is committed if a decision exists, and rolled back if not. Whether the
// other part is still prepared says nothing: it may have been committed already.
#include <cambium/transaction_db.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

using cambium::Status;
using cambium::Transaction;
using cambium::TransactionDB;

constexpr cambium::WriteOptions kSynced{.sync = true};

struct Bank {
  std::unique_ptr<TransactionDB> here;
  std::unique_ptr<TransactionDB> there;
  std::unique_ptr<cambium::DB> coordinator;
};

// Ends the parts that a crash has left prepared.
Status Recover(TransactionDB* db, cambium::DB* coordinator) {
  for (const std::unique_ptr<Transaction>& part : db->TakeRecoveredTransactions()) {
    std::string decision;
    const Status asked = coordinator->Get({}, "decided/" + part->GetName(), &decision);
    if (!asked.ok() && !asked.IsNotFound()) return asked;
    const Status ended = asked.ok() ? part->Commit() : part->Rollback();
    if (!ended.ok()) return ended;
  }
  return Status::OK();
}

Status OpenBank(const std::string& path, Bank* bank) {
  cambium::Options options;
  options.create_if_missing = true;
  Status s = cambium::DB::Open(options, path + ".coordinator", &bank->coordinator);
  if (s.ok()) s = TransactionDB::Open(options, {}, path + ".here", &bank->here);
  if (s.ok()) s = TransactionDB::Open(options, {}, path + ".there", &bank->there);
  if (s.ok()) s = Recover(bank->here.get(), bank->coordinator.get());
  if (s.ok()) s = Recover(bank->there.get(), bank->coordinator.get());
  return s;
}

long long Balance(TransactionDB* db) {
  std::string text;
  return db->Get({}, "account", &text).ok() ? std::stoll(text) : 0;
}

// Adds `amount` to the account in a transaction that is then prepared.
Status PreparePart(Transaction* part, const std::string& name, long long amount) {
  std::string text = "0";
  Status s = part->GetForUpdate({}, "account", &text);
  if (!s.ok() && !s.IsNotFound()) return s;
  s = part->Put("account", std::to_string(std::stoll(text) + amount));
  if (s.ok()) s = part->SetName(name);
  return s.ok() ? part->Prepare() : s;
}

// A name must not be used again while a part with it is prepared. With `stops`, ends after step 2, like a crash.
Status Transfer(Bank* bank, const std::string& name, long long amount, bool stops = false) {
  const std::unique_ptr<Transaction> from(bank->here->BeginTransaction(kSynced));
  const std::unique_ptr<Transaction> to(bank->there->BeginTransaction(kSynced));
  Status s = PreparePart(from.get(), name, -amount);
  if (s.ok()) s = PreparePart(to.get(), name, amount);
  if (!s.ok()) {  // no decision was written, so both parts may be rolled back
    const Status first = from->Rollback();
    const Status second = to->Rollback();
    return !first.ok() ? first : !second.ok() ? second : s;
  }
  s = bank->coordinator->Put(kSynced, "decided/" + name, "");
  if (!s.ok() || stops) return s;
  s = from->Commit();
  if (s.ok()) s = to->Commit();
  return s.ok() ? bank->coordinator->Delete(kSynced, "decided/" + name) : s;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "two_databases.db";
  Bank bank;
  Status s = OpenBank(path, &bank);
  const long long before = s.ok() ? Balance(bank.there.get()) : 0;
  if (s.ok()) s = Transfer(&bank, "first", 10);
  if (s.ok()) s = Transfer(&bank, "second", 5, /*stops=*/true);
  bank = {};  // closes the databases, with both parts of "second" prepared
  if (s.ok()) s = OpenBank(path, &bank);
  if (!s.ok()) {
    std::fprintf(stderr, "%s\n", s.ToString().c_str());
    return 1;
  }
  const long long received = Balance(bank.there.get()) - before;
  std::printf("received %lld, in all %lld\n", received, Balance(bank.here.get()) + Balance(bank.there.get()));
  return received == 15 && Balance(bank.here.get()) + Balance(bank.there.get()) == 0 ? 0 : 1;
}
