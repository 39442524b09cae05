// Bookings of rooms that never overlap.
//
//   key     room, first day (4 digits)      value   the day after the last one
//
// A booking may begin on any day, so no key stands for "the room is free". A transaction tracks the range of keys in
// which a booking that overlaps would be, TrackRange, and looks whether there is one. If another transaction books such
// days meanwhile, one of the two commits, and the other one looks again.
#include <cambium/optimistic_transaction_db.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using cambium::DB;
using cambium::Iterator;
using cambium::Status;
using cambium::Transaction;

constexpr int kDaysMax = 14;  // of a booking

std::string KeyOf(const std::string& room, int day) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%04d", day);
  return room + "/" + digits;
}

// Sets *is_free to whether nothing is booked on these days, as the transaction sees it.
Status Look(Transaction* transaction, const std::string& room, int first, int end, bool* is_free) {
  // No booking that begins earlier reaches these days.
  const std::string begin = KeyOf(room, first > kDaysMax ? first - kDaysMax + 1 : 0);
  const std::string behind = KeyOf(room, end);
  Status s = transaction->TrackRange(begin, behind);
  if (!s.ok()) return s;
  *is_free = true;
  const std::unique_ptr<Iterator> it(transaction->GetIterator({}));
  for (it->Seek(begin); it->Valid() && it->key() < cambium::Slice(behind); it->Next()) {
    if (std::stoi(it->value().ToString()) > first) *is_free = false;
  }
  return it->status();
}

// Books the days from `first` on and before `end`. Sets *booked to whether they were free.
Status Book(DB* db, const std::string& room, int first, int end, bool* booked) {
  while (true) {
    const std::unique_ptr<Transaction> transaction(cambium::BeginOptimisticTransaction(db, {}));
    if (transaction == nullptr) return Status::Aborted("the database takes no writes");
    Status s = Look(transaction.get(), room, first, end, booked);
    if (s.ok() && *booked) s = transaction->Put(KeyOf(room, first), std::to_string(end));
    if (s.ok()) s = transaction->Commit();
    if (!s.IsBusy() && !s.IsTryAgain()) return s;  // after these two, looks again
  }
}

// Counts the bookings of a room; -1 if two of them overlap.
int CountBookings(DB* db, const std::string& room) {
  int count = 0;
  int end = 0;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (it->Seek(room + "/"); it->Valid() && it->key().starts_with(room + "/"); it->Next()) {
    const int first = std::stoi(it->key().ToString().substr(room.size() + 1));
    if (first < end) return -1;
    end = std::stoi(it->value().ToString());
    ++count;
  }
  return it->status().ok() ? count : -1;
}

}  // namespace

int main(int argc, char** argv) {
  cambium::Options options;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  Status s = DB::Open(options, argc > 1 ? argv[1] : "booking.db", &db);
  if (s.ok()) s = db->DeleteRange({}, db->DefaultColumnFamily(), "room", "rooms");  // so that the program can run again

  // Ten guests want the same room, each from another day on, all of them on day 109.
  std::vector<Status> results(10);
  std::vector<char> booked(results.size(), 0);
  std::vector<std::thread> guests;
  for (std::size_t i = 0; i < results.size() && s.ok(); ++i) {
    guests.emplace_back([&, i] {
      bool is_mine = false;
      results[i] = Book(db.get(), "room 7", 100 + static_cast<int>(i), 110, &is_mine);
      booked[i] = is_mine ? 1 : 0;
    });
  }
  for (std::thread& each : guests) each.join();
  int winners = 0;
  for (std::size_t i = 0; i < guests.size(); ++i) {
    if (!results[i].ok()) s = results[i];
    winners += booked[i];
  }
  bool next = false;
  if (s.ok()) s = Book(db.get(), "room 7", 110, 112, &next);  // the days behind are free
  const int count = s.ok() ? CountBookings(db.get(), "room 7") : 0;
  if (s.ok() && (winners != 1 || !next || count != 2)) s = Status::Corruption("bookings overlap, or are lost");
  std::printf("%s\n", s.ok() ? "one of ten has the room on day 109" : s.ToString().c_str());
  return s.ok() ? 0 : 1;
}
