#include "process/workload.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>
#include <vector>

#include "testing/small_options.h"
#include "util/mutant.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kSlots = 7;
constexpr std::uint64_t kGroup = 10;

bool Deletes(std::uint64_t round) { return round % 5 == 4; }

std::string KeyOf(std::size_t writer, std::uint64_t slot, std::uint64_t digit) {
  return std::to_string(digit) + "-w" + std::to_string(writer) + "-s" + std::to_string(slot);
}

std::string LastKeyOf(std::size_t writer) { return "last-w" + std::to_string(writer); }

// The sizes give inline, separated and large values. The text at the beginning tells a person where a misplaced value
// comes from.
std::string ValueOf(std::size_t writer, std::uint64_t round, std::uint64_t life, std::uint64_t digit) {
  Prng prng(((life * 1'000'003 + round) * kWriters + writer) * kGroup + digit);
  const std::uint64_t kind = prng.Uniform(100);
  const std::uint64_t size = kind < 50 ? prng.Uniform(100) : kind < 98 ? prng.Uniform(1500) : prng.Uniform(12'000);
  return "writer " + std::to_string(writer) + " round " + std::to_string(round) + " life " + std::to_string(life) +
         " key " + std::to_string(digit) + ": " + prng.Bytes(size);
}

std::string LastValueOf(std::uint64_t round, std::uint64_t life, const Rounds& seen) {
  std::ostringstream text;
  text << round << ' ' << life;
  for (const std::uint64_t rounds : seen) text << ' ' << rounds;
  return text.str();
}

// The writing process.
class WriterProcess {
 public:
  WriterProcess(const Plan& plan, int out) : plan_(plan), out_(out) {
    for (std::size_t w = 0; w < kWriters; ++w) acked_[w].store(plan.done[w]);
  }

  int Run() {
#ifdef CAMBIUM_TEST_HOOKS
    active_mutant.store(static_cast<Mutant>(plan_.mutant));
#endif
    if (plan_.open_files_max != 0) {
      const rlimit limit{plan_.open_files_max, plan_.open_files_max};
      if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 4;
    }
    if (plan_.file_size_max != 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{plan_.file_size_max, plan_.file_size_max};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 4;
    }
    if (plan_.user != 0 && ::setuid(static_cast<uid_t>(plan_.user)) != 0) return 4;
    for (std::uint64_t i = 0; plan_.open_count == 0 || i < plan_.open_count; ++i) {
      const int code = OneOpen(i);
      if (code != 0) return code;
    }
    return 0;
  }

 private:
  void Tell(Message::Kind kind, std::size_t writer = 0, std::uint64_t round = 0, const std::string& text = {}) {
    Message message;
    message.kind = kind;
    message.writer = static_cast<std::uint32_t>(writer);
    message.round = round;
    std::strncpy(message.text, text.c_str(), sizeof(message.text) - 1);
    if (::write(out_, &message, sizeof(message)) != sizeof(message)) ::_exit(5);
  }

  int OneOpen(std::uint64_t open_index) {
    Tell(Message::Kind::kOpening);
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(WorkloadOptions(plan_.size), plan_.directory, &db);
    if (!opened.ok()) {
      Tell(Message::Kind::kOpenFailed, 0, 0, opened.ToString());
      return 3;
    }
    Tell(Message::Kind::kOpened);
    std::vector<std::thread> threads;
    for (std::size_t w = 0; w < kWriters; ++w) {
      threads.emplace_back([this, &db, w, open_index] { WriteRounds(db.get(), w, open_index); });
    }
    for (std::thread& thread : threads) thread.join();
    Tell(Message::Kind::kClosing);
    const Status closed = db->Close();
    if (closed.ok()) {
      Tell(Message::Kind::kClosed);
    } else {
      Tell(Message::Kind::kCloseFailed, 0, 0, closed.ToString());
    }
    return 0;
  }

  void WriteRounds(DB* db, std::size_t writer, std::uint64_t open_index) {
    Prng prng(plan_.seed + open_index * kWriters + writer);
    std::uint64_t failures = 0;
    for (std::uint64_t n = 0; plan_.rounds == 0 || n < plan_.rounds;) {
      const std::uint64_t round = acked_[writer].load() + 1;
      WriteBatch batch;
      Status s;
      for (std::uint64_t digit = 0; digit < kGroup && s.ok(); ++digit) {
        const std::string key = KeyOf(writer, round % kSlots, digit);
        s = Deletes(round) ? batch.Delete(key) : batch.Put(key, ValueOf(writer, round, plan_.life, digit));
      }
      Rounds seen{};
      for (std::size_t w = 0; w < kWriters; ++w) seen[w] = acked_[w].load();
      if (s.ok()) s = batch.Put(LastKeyOf(writer), LastValueOf(round, plan_.life, seen));
      WriteOptions options;
      options.sync = prng.Uniform(100) < plan_.sync_percent;
      if (s.ok()) s = db->Write(options, &batch);
      if (s.severity() == Status::Severity::kFatal) {
        Tell(Message::Kind::kFatal, writer, round, s.ToString());
        CheckReadOnly(db, writer);
        return;
      }
      if (!s.ok()) {
        Tell(Message::Kind::kFailed, writer, round, s.ToString());
        if (++failures == plan_.attempts) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        continue;
      }
      failures = 0;
      ++n;
      acked_[writer].store(round);
      Tell(options.sync ? Message::Kind::kSynced : Message::Kind::kAcked, writer, round);
      if (plan_.sync_percent > 0 && prng.OneIn(50) && db->SyncWAL().ok()) {
        Tell(Message::Kind::kSynced, writer, round);
      }
      if (plan_.read_every != 0 && n % plan_.read_every == 0) ReadBack(db, writer, round);
      // Failures of these show in later writes, if they matter.
      if (prng.OneIn(60)) static_cast<void>(db->Flush({}));
      if (prng.OneIn(200)) static_cast<void>(db->CompactRange({}, nullptr, nullptr));
    }
  }

  // Reads what the round has written, by Get, MultiGet and a scan. Each must return the right value or an I/O error.
  void ReadBack(DB* db, std::size_t writer, std::uint64_t round) {
    std::vector<std::string> keys;
    for (std::uint64_t digit = 0; digit < kGroup; ++digit) keys.push_back(KeyOf(writer, round % kSlots, digit));
    ReadOptions options;
    options.async_io = round % 2 == 0;
    const auto judge = [&](std::uint64_t digit, const Status& s, const std::string& value, const char* way) {
      if (s.ok() ? !Deletes(round) && value == ValueOf(writer, round, plan_.life, digit)
                 : s.IsNotFound() && Deletes(round)) {
        return;
      }
      Tell(s.IsIOError() ? Message::Kind::kReadFailed : Message::Kind::kWrong, writer, round,
           std::string(way) + " of " + keys[digit] + ": " + s.ToString());
    };
    std::vector<std::string> values;
    const std::vector<Status> statuses = db->MultiGet(options, {keys.begin(), keys.end()}, &values);
    for (std::uint64_t digit = 0; digit < kGroup; ++digit) judge(digit, statuses[digit], values[digit], "MultiGet");
    const std::unique_ptr<Iterator> it(db->NewIterator(options));
    for (std::uint64_t digit = 0; digit < kGroup; ++digit) {
      std::string value;
      Status s = db->Get(options, keys[digit], &value);
      judge(digit, s, value, "Get");
      it->Seek(keys[digit]);
      const bool is_there = it->Valid() && it->key() == Slice(keys[digit]);
      value = is_there ? it->value().ToString() : "";
      s = it->status();
      judge(digit, s.ok() && !is_there ? Status::NotFound("") : s, value, "a scan");
      // The next entries may be other writers', so their values are not known.
      for (int i = 0; i < 3 && it->Valid(); ++i, it->Next()) static_cast<void>(it->value());
    }
  }

  // After a fatal error reads must still work, and every write must be refused.
  void CheckReadOnly(DB* db, std::size_t writer) {
    for (const bool sync : {false, true}) {
      WriteOptions options;
      options.sync = sync;
      const Status s = db->Put(options, "never", "never");
      if (s.severity() != Status::Severity::kFatal) {
        Tell(Message::Kind::kWrong, writer, 0, "a write after a fatal error returned: " + s.ToString());
      }
    }
    const Status synced = db->SyncWAL();
    if (synced.ok()) Tell(Message::Kind::kWrong, writer, 0, "SyncWAL returned OK after a fatal error");
    std::string last;
    const Status read = db->Get({}, LastKeyOf(writer), &last);
    if (acked_[writer].load() > 0 && !read.ok()) {
      Tell(Message::Kind::kWrong, writer, 0, "a read after a fatal error returned: " + read.ToString());
    } else if (read.ok() && std::strtoull(last.c_str(), nullptr, 10) < acked_[writer].load()) {
      Tell(Message::Kind::kWrong, writer, 0, "a read after a fatal error shows an old state: " + last);
    }
  }

  const Plan plan_;
  const int out_;
  std::array<std::atomic<std::uint64_t>, kWriters> acked_{};
};

std::string Beginning(const std::string& value) {
  std::string text;
  for (const char c : value.substr(0, 60)) text += c >= ' ' && c <= '~' ? c : '.';
  return "\"" + text + "\" (" + std::to_string(value.size()) + " bytes)";
}

}  // namespace

Options WorkloadOptions(Size size) {
  Options options;
  if (size == Size::kTiny) {
    options = SmallOptions(TestsUseLsm() ? 1024 : 512);  // 1024: the lazy style; the default size has the leveled one
    options.page_cache_size = 64u << 10;
    options.write_buffer_size = 32u << 10;
    options.blob_file_size = 64u << 10;
    options.sweep_ratio = 2;
  } else {
    options.create_if_missing = true;
    UseIndexOfTest(&options);
    if (size == Size::kDefaultKeepsAll) options.max_space_amplification = 0;
  }
  options.lock_wait_micros = 10'000'000;
  return options;
}

std::string Plan::ToText() const {
  std::ostringstream text;
  text << static_cast<std::uint64_t>(size) << ' ' << life << ' ' << seed << ' ' << rounds << ' ' << open_count << ' '
       << sync_percent << ' ' << open_files_max << ' ' << file_size_max << ' ' << user << ' ' << attempts << ' '
       << mutant << ' ' << read_every;
  for (const std::uint64_t rounds_done : done) text << ' ' << rounds_done;
  text << ' ' << directory;
  return text.str();
}

Plan Plan::FromText(const std::string& text) {
  Plan plan;
  std::istringstream in(text);
  std::uint64_t size = 0;
  in >> size >> plan.life >> plan.seed >> plan.rounds >> plan.open_count >> plan.sync_percent >> plan.open_files_max >>
      plan.file_size_max >> plan.user >> plan.attempts >> plan.mutant >> plan.read_every;
  plan.size = static_cast<Size>(size);
  for (std::uint64_t& rounds_done : plan.done) in >> rounds_done;
  in >> std::ws;
  std::getline(in, plan.directory);
  return plan;
}

int RunWriter(const Plan& plan, int out) { return WriterProcess(plan, out).Run(); }

void History::BeginLife(Plan* plan) {
  plan->life = ++life_;
  for (std::size_t w = 0; w < kWriters; ++w) {
    Writer& writer = writers_[w];
    writer.acked = writer.synced = plan->done[w] = writer.found;
    writer.lives[writer.found + 1] = life_;
  }
}

void History::See(const Message& message, bool power_is_off) {
  if (message.kind == Message::Kind::kOpened) was_open_ = true;
  if (message.kind != Message::Kind::kAcked && message.kind != Message::Kind::kSynced) return;
  Writer& writer = writers_.at(message.writer);
  writer.acked = std::max(writer.acked, message.round);
  if (message.kind == Message::Kind::kSynced && !power_is_off) writer.synced = std::max(writer.synced, message.round);
}

std::uint64_t History::LifeOf(std::size_t writer, std::uint64_t round) const {
  return std::prev(writers_[writer].lives.upper_bound(round))->second;
}

std::uint64_t History::total_rounds() const {
  std::uint64_t total = 0;
  for (const Writer& writer : writers_) total += writer.found;
  return total;
}

std::string History::Check(DB* db, bool only_synced) {
  Contents contents;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    const std::string value = it->value().ToString();
    if (!it->Valid()) break;
    contents[key] = value;
  }
  if (!it->status().ok()) return "reading: " + it->status().ToString();

  std::array<Rounds, kWriters> seen{};
  for (std::size_t w = 0; w < kWriters; ++w) {
    Writer& writer = writers_[w];
    std::uint64_t last = 0;
    std::string wrong = CheckLastRound(w, &contents, &last, &seen[w]);
    if (wrong.empty()) wrong = CheckCount(w, last, only_synced);
    if (wrong.empty()) wrong = CheckSlots(db, w, last, &contents);
    if (!wrong.empty()) return "writer " + std::to_string(w) + wrong;
    lost_ += writer.acked > last ? writer.acked - last : 0;
    writer.found = last;
    writer.lives.erase(writer.lives.upper_bound(last), writer.lives.end());
  }
  if (!contents.empty()) return "no writer wrote key " + Beginning(contents.begin()->first);
  return CheckPrefix(seen);
}

std::string History::CheckLastRound(std::size_t writer, Contents* contents, std::uint64_t* last, Rounds* seen) const {
  const auto found = contents->find(LastKeyOf(writer));
  if (found == contents->end()) return "";
  std::istringstream in(found->second);
  std::uint64_t life = 0;
  in >> *last >> life;
  for (std::uint64_t& rounds : *seen) in >> rounds;
  if (!in || *last == 0) return ": its last round is " + Beginning(found->second);
  if (life != LifeOf(writer, *last)) {
    return ": round " + std::to_string(*last) + " is of life " + std::to_string(life) + ", not of " +
           std::to_string(LifeOf(writer, *last));
  }
  contents->erase(found);
  return "";
}

std::string History::CheckCount(std::size_t writer, std::uint64_t last, bool only_synced) const {
  const Writer& known = writers_[writer];
  const std::uint64_t least = only_synced ? known.synced : known.acked;
  if (last < least) {
    return ": round " + std::to_string(least) + (only_synced ? " was synced" : " was acknowledged") +
           ", but the last that survived is " + std::to_string(last);
  }
  if (last > known.acked + 1) {
    return ": round " + std::to_string(last) + " was never begun; the last acknowledged is " +
           std::to_string(known.acked);
  }
  return "";
}

std::string History::CheckSlots(DB* db, std::size_t writer, std::uint64_t last, Contents* contents) const {
  for (std::uint64_t slot = 0; slot < kSlots; ++slot) {
    const std::uint64_t back = (last + kSlots - slot) % kSlots;
    const std::uint64_t round = last > back ? last - back : 0;
    for (std::uint64_t digit = 0; digit < kGroup; ++digit) {
      const std::string key = KeyOf(writer, slot, digit);
      const auto found = contents->find(key);
      const bool expected = round != 0 && !Deletes(round);
      const std::string after = " after round " + std::to_string(last) + ": key " + key;
      if (found == contents->end()) {
        if (expected) return after + " is missing; it was written in round " + std::to_string(round);
        continue;
      }
      if (!expected) return after + " should not exist, but holds " + Beginning(found->second);
      const std::string value = ValueOf(writer, round, LifeOf(writer, round), digit);
      if (found->second != value) {
        return after + " holds " + Beginning(found->second) + " instead of " + Beginning(value);
      }
      std::string got;
      const Status s = db->Get({}, key, &got);
      if (!s.ok() || got != value) return after + ": Get returns " + s.ToString() + " " + Beginning(got);
      contents->erase(found);
    }
  }
  return "";
}

std::string History::CheckPrefix(const std::array<Rounds, kWriters>& seen) const {
  for (std::size_t w = 0; w < kWriters; ++w) {
    for (std::size_t other = 0; other < kWriters; ++other) {
      if (writers_[other].found < seen[w][other]) {
        return "not a prefix: writer " + std::to_string(w) + " had seen round " + std::to_string(seen[w][other]) +
               " of writer " + std::to_string(other) + ", of which only " + std::to_string(writers_[other].found) +
               " survived";
      }
    }
  }
  return "";
}

}  // namespace cambium::testing
