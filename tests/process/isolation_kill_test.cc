// Isolation over kills of a real process: eight threads of random transactions, SIGKILL at any moment, and the next
// process goes on. The clients write their journals into files, which outlive them. After each kill two processes open
// the database at the same time, only to read: they must find what was acknowledged, as a whole, and accounts whose sum
// has not changed. While a process writes, no other one can open its database (process/exclusion_test), so meanwhile a
// reading process opens checkpoints.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cambium/checkpoint.h"
#include "process/child.h"
#include "testing/deep_verify.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "transactions/isolation/checker.h"
#include "transactions/isolation/life.h"
#include "util/prng.h"

namespace cambium::testing::isolation_kill_test {
namespace {

using namespace isolation;  // its History is not that of process/workload.h

// What a child must do, as the last word of its command line.
struct Task {
  std::uint64_t kind = 0;
  std::uint64_t seed = 0;
  std::uint64_t life = 0;
  std::uint64_t first_id = 2;
  std::string directory;  // has the database "db", the journals and the checkpoints
  std::string database;   // the one to read

  [[nodiscard]] std::string ToText() const {
    std::ostringstream text;
    text << kind << ' ' << seed << ' ' << life << ' ' << first_id << ' ' << directory << ' ' << database;
    return text.str();
  }
  static Task FromText(const std::string& text) {
    Task task;
    std::istringstream in(text);
    in >> task.kind >> task.seed >> task.life >> task.first_id >> task.directory >> task.database;
    return task;
  }
  [[nodiscard]] Kind TheKind() const { return static_cast<Kind>(kind); }
  [[nodiscard]] Options TheOptions() const {
    Options options = RandomOptions(seed);
    options.lock_wait_micros = 10'000'000;
    return options;
  }
};

std::string JournalPath(const std::string& directory, std::uint64_t life, std::uint32_t client) {
  return directory + "/journal-" + std::to_string(life) + "-" + std::to_string(client);
}

void Tell(Message::Kind kind, std::uint64_t number, const std::string& text) {
  Message message;
  message.kind = kind;
  message.round = number;
  std::strncpy(message.text, text.c_str(), sizeof(message.text) - 1);
  if (::write(kMessageDescriptor, &message, sizeof(message)) != sizeof(message)) ::_exit(5);
}

// ---- The children ----

// Each line is one write(2), so a kill can cut off only the last one.
Client::Journal FileJournal(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) ::_exit(6);
  return [file](const std::string& line) {
    if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) ::_exit(7);
    if (line.starts_with("committed")) Tell(Message::Kind::kAcked, 0, "");
  };
}

// Makes checkpoints until the process is killed.
void MakeCheckpoints(LifeContext* life, const Task& task) {
  std::unique_ptr<Checkpoint> checkpoint;
  Status s = Checkpoint::Create(static_cast<StackableDB&>(life->store->db()).GetBaseDB(), &checkpoint);
  for (int i = 0; s.ok(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + 40 * i));
    const std::string path = task.directory + "/checkpoint-" + std::to_string(task.life) + "-" + std::to_string(i);
    const Time call = life->Now();
    s = checkpoint->CreateCheckpoint(path);
    if (s.ok()) Tell(Message::Kind::kSynced, call, path);
  }
  Tell(Message::Kind::kWrong, 0, "a checkpoint: " + s.ToString());
}

int RunWritingProcess(const Task& task) {
  Store store;
  const Status s = store.Open(task.TheOptions(), task.directory + "/db", task.TheKind());
  if (!s.ok()) {
    Tell(Message::Kind::kOpenFailed, 0, s.ToString());
    return 3;
  }
  Tell(Message::Kind::kOpened, 0, "");
  LifeContext life;
  life.store = &store;
  life.era = task.life / 2;
  life.next_id.store(task.first_id);
  life.rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  std::thread(MakeCheckpoints, &life, task).detach();
  const auto journal_of = [&](std::uint32_t i) { return FileJournal(JournalPath(task.directory, task.life, i)); };
  Figures ignored;
  const std::string problem = RunClients(&life, 1'000'000'000, task.seed, journal_of, &ignored);
  Tell(Message::Kind::kWrong, 0, problem);
  while (true) ::pause();
}

int RunReadingProcess(const Task& task) {
  Store store;
  State found;
  Status s = store.OpenForReadOnly(task.TheOptions(), task.database, task.TheKind());
  const std::string wrong = s.ok() ? store.Observe(&found) : s.ToString();
  Tell(wrong.empty() ? Message::Kind::kClosed : Message::Kind::kWrong, found.receipts.size(), wrong);
  return 0;
}

// ---- The parent ----

class IsolationKillTest : public ::testing::TestWithParam<Kind> {
 protected:
  IsolationKillTest() : seed_(SeedFromEnvironment(0x15a + static_cast<std::uint64_t>(GetParam()))), prng_(seed_) {
    task_.kind = static_cast<std::uint64_t>(GetParam());
    task_.directory = directory_.path();
    task_.database = directory_.File("db");
  }

  // Lets a process work until it has committed this many transactions and made this many checkpoints, and then for
  // `micros`; kills it, and checks what it has left.
  void OneLife(std::uint64_t commits, std::size_t checkpoints, std::uint64_t micros) {
    task_.seed = prng_.Next() >> 8;
    checkpoints_.clear();
    {
      Child child("write", task_.ToText());
      const auto see = [&](const Message& message) {
        EXPECT_NE(message.kind, Message::Kind::kOpenFailed) << message.text;
        EXPECT_NE(message.kind, Message::Kind::kWrong) << message.text;
        if (message.kind == Message::Kind::kSynced) checkpoints_.emplace_back(message.round, message.text);
        return message.kind == Message::Kind::kOpened;
      };
      ASSERT_TRUE(child.Listen(60'000'000, see)) << "the process ended or hung: " << child.Wait();
      const auto counts = [&](const Message& message) {
        static_cast<void>(see(message));
        if (message.kind == Message::Kind::kAcked && commits > 0) --commits;
        return commits == 0 && checkpoints_.size() >= checkpoints;
      };
      if (commits + checkpoints > 0) {
        ASSERT_TRUE(child.Listen(60'000'000, counts)) << "the process ended or hung: " << child.Wait();
      }
      static_cast<void>(child.Listen(micros, [&](const Message& message) { return see(message) && false; }));
      child.Kill(see);
      EXPECT_EQ(child.Wait(), 1000 + SIGKILL);
    }
    CheckLifeAndGoOn();
  }

 private:
  void CheckLifeAndGoOn() {
    std::vector<std::string> journals;
    for (std::uint32_t i = 0; i <= kClients; ++i) {
      const std::string path = JournalPath(task_.directory, task_.life, i);
      std::ifstream file(path);
      journals.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      std::filesystem::remove(path);
    }
    isolation::History history;
    if (task_.life == 0) {  // the set-up
      biography_.Begin(SetUpState());
    }
    ASSERT_EQ(biography_.Read(journals, &history), "");
    for (const TxRecord& tx : history.transactions) {
      task_.first_id = std::max(task_.first_id, tx.id + 100);  // some have not written their number down
      ++transactions_;
      commits_ += tx.outcome == Outcome::kCommitted ? 1u : 0u;
    }
    for (const auto& [call, path] : checkpoints_) {
      State copy;
      ReadEverything(path, &copy);
      EXPECT_EQ(CheckEnd(history, {.lost_power = false, .at = call, .is_copy = true}, copy), "") << path;
      std::filesystem::remove_all(path);
      ++copies_;
    }
    State found;
    ReadEverything(task_.database, &found);
    if (HasFailure()) return;
    EXPECT_EQ(biography_.End(history, {}, std::move(found)), "");
    ++task_.life;
  }
  // In this process and in another one at the same time.
  void ReadEverything(const std::string& path, State* state) {
    Task task = task_;
    task.database = path;
    Child child("read", task.ToText());
    Store store;
    const Status s = store.OpenForReadOnly(task.TheOptions(), path, task.TheKind());
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(store.Observe(state), "") << path;
    std::uint64_t receipts = 0;
    const auto see = [&](const Message& message) {
      EXPECT_EQ(message.kind, Message::Kind::kClosed) << message.text;
      receipts = message.round;
      return true;
    };
    ASSERT_TRUE(child.Listen(60'000'000, see)) << "the reading process hung: " << child.Wait();
    EXPECT_EQ(receipts, state->receipts.size());
    EXPECT_EQ(child.Wait(), 0);
  }

 protected:
  const std::uint64_t seed_;
  Prng prng_;
  TempDirectory directory_;
  Task task_;
  Biography biography_;
  std::vector<std::pair<Time, std::string>> checkpoints_;  // of this life: when each was begun
  std::uint64_t transactions_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t copies_ = 0;
};

TEST_P(IsolationKillTest, TransactionsKeepTheirLevelsOverKills) {
  const std::uint64_t kills = 2 + ScaledPrograms(6);
  for (std::uint64_t i = 0; i < kills && !HasFailure(); ++i) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed_) + ", kill " + std::to_string(i));
    const std::uint64_t commits = prng_.OneIn(4) ? prng_.Uniform(5) : 20 + prng_.Uniform(150);
    OneLife(commits, i % 4 == 1 ? 1 : 0, prng_.Skewed(14));
  }
  std::printf("%llu transactions, %llu commits, %llu kills, %llu checkpoints\n",
              static_cast<unsigned long long>(transactions_), static_cast<unsigned long long>(commits_),
              static_cast<unsigned long long>(kills), static_cast<unsigned long long>(copies_));
  EXPECT_GT(commits_, kills);
  EXPECT_GT(copies_, 0u);
}

INSTANTIATE_TEST_SUITE_P(Kinds, IsolationKillTest, ::testing::Values(Kind::kOptimistic, Kind::kPessimistic),
                         [](const auto& instance) {
                           return instance.param == Kind::kOptimistic ? "Optimistic" : "Pessimistic";
                         });

}  // namespace
}  // namespace cambium::testing::isolation_kill_test

int main(int argc, char** argv) {
  using namespace cambium::testing::isolation_kill_test;
  if (argc == 4 && std::strcmp(argv[1], "--role") == 0) {
    const Task task = Task::FromText(argv[3]);
    return std::strcmp(argv[2], "write") == 0 ? RunWritingProcess(task) : RunReadingProcess(task);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
