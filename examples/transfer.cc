// Four things that need transactions: a transfer, a counter, a queue, and a unique index.
#include <cambium/optimistic_transaction_db.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

namespace {

using cambium::DB;
using cambium::Status;
using cambium::Transaction;

// Runs `work` in transactions until one commits. Any error but a conflict ends the attempts.
Status Repeat(DB* db, const std::function<Status(Transaction*)>& work) {
  while (true) {
    const std::unique_ptr<Transaction> transaction(cambium::BeginOptimisticTransaction(db, {}));
    if (transaction == nullptr) return Status::Aborted("the database takes no writes");
    Status s = work(transaction.get());
    if (s.ok()) s = transaction->Commit();
    if (!s.IsBusy() && !s.IsTryAgain()) return s;
  }
}

// Both accounts change, or none does. If another transaction changes one of them after GetForUpdate, the commit fails.
Status Transfer(DB* db, const std::string& from, const std::string& to, int amount) {
  return Repeat(db, [&](Transaction* transaction) {
    std::string has;
    std::string gets;
    Status s = transaction->GetForUpdate({}, from, &has);
    if (s.ok()) s = transaction->GetForUpdate({}, to, &gets);
    if (s.ok() && std::stoi(has) < amount) s = Status::InvalidArgument("not enough money");
    if (s.ok()) s = transaction->Put(from, std::to_string(std::stoi(has) - amount));
    if (s.ok()) s = transaction->Put(to, std::to_string(std::stoi(gets) + amount));
    return s;
  });
}

Status Count(DB* db, const std::string& key) {
  return Repeat(db, [&](Transaction* transaction) {
    std::string value = "0";
    const Status s = transaction->GetForUpdate({}, key, &value);
    if (!s.ok() && !s.IsNotFound()) return s;
    return transaction->Put(key, std::to_string(std::stoi(value) + 1));
  });
}

// Takes the first entry whose key begins with "queue/". Of two takers, one gets Busy and looks again.
Status Take(DB* db, std::string* job) {
  return Repeat(db, [&](Transaction* transaction) {
    const std::unique_ptr<cambium::Iterator> it(transaction->GetIterator({}));
    it->Seek("queue/");
    if (!it->status().ok()) return it->status();
    if (!it->Valid() || !it->key().starts_with("queue/")) return Status::NotFound("the queue is empty");
    const std::string key = it->key().ToString();
    *job = it->value().ToString();
    return transaction->Delete(key);
  });
}

// Each user has a name that no other has: "name/N" leads to the user. The key of the name is tracked although it does
// not exist, so of two users who want it at the same time, only one gets it.
Status AddUser(DB* db, const std::string& id, const std::string& name) {
  return Repeat(db, [&](Transaction* transaction) {
    std::string owner;
    Status s = transaction->GetForUpdate({}, "name/" + name, &owner);
    if (s.ok() && owner == id) return Status::OK();  // has the name already
    if (s.ok()) return Status::InvalidArgument(name + " is taken by user " + owner);
    if (s.IsNotFound()) s = transaction->Put("name/" + name, id);
    if (s.ok()) s = transaction->Put("user/" + id, name);
    return s;
  });
}

}  // namespace

int main(int argc, char** argv) {
  cambium::Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  Status s = DB::Open(options, argc > 1 ? argv[1] : "transfer.db", &db);

  if (s.ok()) s = db->Put({}, "anna", "100");
  if (s.ok()) s = db->Put({}, "ben", "0");
  if (s.ok()) s = Transfer(db.get(), "anna", "ben", 30);
  std::string value;
  if (s.ok()) s = db->Get({}, "ben", &value);
  if (s.ok()) std::printf("ben has %s\n", value.c_str());

  for (int i = 0; i < 3 && s.ok(); ++i) s = Count(db.get(), "visits");
  if (s.ok()) s = db->Get({}, "visits", &value);
  if (s.ok()) std::printf("%s visits\n", value.c_str());

  if (s.ok()) s = db->Put({}, "queue/1", "water the oak");
  if (s.ok()) s = Take(db.get(), &value);
  if (s.ok()) std::printf("job: %s\n", value.c_str());

  if (s.ok()) s = AddUser(db.get(), "1", "carla");
  if (s.ok()) std::printf("second carla: %s\n", AddUser(db.get(), "2", "carla").ToString().c_str());

  if (s.ok()) s = db->Close();
  if (!s.ok()) std::printf("%s\n", s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
