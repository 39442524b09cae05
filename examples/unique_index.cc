// A unique index: each user has an e-mail address that no other user has, and is found by it.
//
//   family "users"    id -> address
//   family "emails"   address -> id
//
// Each change writes both families in one transaction, so they never disagree, also after a crash. A transaction reads
// the address by GetForUpdate, which tracks the key even if it does not exist. If two users ask for the same address at
// the same time, one transaction commits, and the other one finds out who has the address.
#include <cambium/optimistic_transaction_db.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using cambium::ColumnFamilyHandle;
using cambium::DB;
using cambium::Status;
using cambium::Transaction;

class Users {
 public:
  static Status Open(const std::string& path, std::unique_ptr<Users>* users) {
    cambium::DBOptions options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    const auto made = new Users;
    users->reset(made);
    std::vector<ColumnFamilyHandle*> handles;
    Status s = DB::Open(options, path, {{"default", {}}, {"users", {}}, {"emails", {}}}, &handles, &made->db_);
    if (!s.ok()) return s;
    made->default_ = handles[0];
    made->users_ = handles[1];
    made->emails_ = handles[2];
    return s;
  }
  ~Users() {
    for (ColumnFamilyHandle* const each : {default_, users_, emails_}) {
      if (each != nullptr) static_cast<void>(db_->DestroyColumnFamilyHandle(each));
    }
  }

  // Gives the user this address, in place of the one that the user has. InvalidArgument if it is another user's.
  Status SetEmail(const std::string& id, const std::string& email) {
    return Repeat([&](Transaction* transaction) -> Status {
      std::string owner;
      Status s = transaction->GetForUpdate({}, emails_, email, &owner);
      if (s.ok()) return owner == id ? Status::OK() : Status::InvalidArgument(email + " is the address of " + owner);
      if (!s.IsNotFound()) return s;
      std::string before;
      s = transaction->GetForUpdate({}, users_, id, &before);
      if (!s.ok() && !s.IsNotFound()) return s;
      if (s.ok()) s = transaction->Delete(emails_, before);
      if (s.ok() || s.IsNotFound()) s = transaction->Put(users_, id, email);
      if (s.ok()) s = transaction->Put(emails_, email, id);
      return s;
    });
  }

  Status Remove(const std::string& id) {
    return Repeat([&](Transaction* transaction) -> Status {
      std::string email;
      Status s = transaction->GetForUpdate({}, users_, id, &email);
      if (s.ok()) s = transaction->Delete(users_, id);
      if (s.ok()) s = transaction->Delete(emails_, email);
      return s;
    });
  }

  Status Find(const std::string& email, std::string* id) { return db_->Get({}, emails_, email, id); }

  // Returns whether both families agree at one moment.
  bool Agree() {
    const cambium::ManagedSnapshot moment(db_.get());
    cambium::ReadOptions read;
    read.snapshot = moment.snapshot();
    return Matches(read, users_, emails_) && Matches(read, emails_, users_);
  }

 private:
  Users() = default;

  // Runs `work` in transactions until one commits. Any error but a conflict ends the attempts.
  Status Repeat(const std::function<Status(Transaction*)>& work) {
    while (true) {
      const std::unique_ptr<Transaction> transaction(cambium::BeginOptimisticTransaction(db_.get(), {}));
      if (transaction == nullptr) return Status::Aborted("the database takes no writes");
      Status s = work(transaction.get());
      if (s.ok()) s = transaction->Commit();
      if (!s.IsBusy() && !s.IsTryAgain()) return s;
    }
  }

  // Returns whether each entry of one family is in the other one, with key and value exchanged.
  bool Matches(const cambium::ReadOptions& read, ColumnFamilyHandle* one, ColumnFamilyHandle* other) {
    const std::unique_ptr<cambium::Iterator> it(db_->NewIterator(read, one));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      std::string back;
      if (!db_->Get(read, other, it->value(), &back).ok() || back != it->key().ToString()) return false;
    }
    return it->status().ok();
  }

  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* default_ = nullptr;
  ColumnFamilyHandle* users_ = nullptr;
  ColumnFamilyHandle* emails_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<Users> users;
  Status s = Users::Open(argc > 1 ? argv[1] : "unique_index.db", &users);
  if (s.ok()) s = users->SetEmail("1", "oak@example.org");
  if (s.ok()) std::printf("second oak: %s\n", users->SetEmail("2", "oak@example.org").ToString().c_str());

  // Ten users want one address at the same time.
  std::vector<Status> results(10);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size() && s.ok(); ++i) {
    threads.emplace_back([&, i] { results[i] = users->SetEmail("t" + std::to_string(i), "elm@example.org"); });
  }
  for (std::thread& each : threads) each.join();
  int winners = 0;
  for (const Status& each : results) winners += each.ok() ? 1 : 0;

  // The winner takes another address, and the first one is free again.
  std::string id;
  if (s.ok()) s = users->Find("elm@example.org", &id);
  if (s.ok()) s = users->SetEmail(id, "ash@example.org");
  if (s.ok() && !users->Find("elm@example.org", &id).IsNotFound()) s = Status::Corruption("the old address is there");
  if (s.ok()) s = users->Remove("1");
  if (s.ok() && (winners != 1 || !users->Agree())) s = Status::Corruption("the index does not agree with the users");
  if (s.ok()) s = users->Find("ash@example.org", &id);
  if (s.ok()) s = users->Remove(id);  // so that the program can run again
  std::printf("%s\n", s.ok() ? "one of ten has elm@example.org" : s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
