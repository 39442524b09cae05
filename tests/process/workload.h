// What a process writes until it dies, and how another process checks afterwards what survived.
//
// Each writer thread counts rounds. Round r is one batch: ten keys of slot r % kSlots, one per leading digit, so that
// they are far apart in key order, and the key "last-wN", which holds r. One round in five deletes its ten keys. The
// value of a key depends only on the writer, the round, the key and the life (the number of the process that wrote it).
// So if "last-wN" holds r, the check knows every byte that writer N must have left. It detects a batch that survived in
// part, and one that reappears after an earlier recovery had discarded it.
//
// "last-wN" also holds how many rounds of each writer were acknowledged when the batch was made. All these rounds must
// have survived too: a prefix of all batches survives, not only a prefix of each writer's batches.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "cambium/db.h"

namespace cambium::testing {

inline constexpr std::size_t kWriters = 3;
using Rounds = std::array<std::uint64_t, kWriters>;

enum class Size : std::uint64_t { kTiny, kDefault, kDefaultKeepsAll };

// Returns the options of both processes. With kTiny the database flushes, rotates and compacts every few rounds. With
// kDefaultKeepsAll it has no ceiling.
[[nodiscard]] Options WorkloadOptions(Size size);

// What the writing process must do. Passed on its command line.
struct Plan {
  std::string directory;
  Size size = Size::kTiny;
  std::uint64_t life = 1;
  std::uint64_t seed = 0;
  Rounds done{};                        // the rounds that the database holds
  std::uint64_t rounds = 0;             // per writer and Open; 0: until killed
  std::uint64_t open_count = 1;         // how often it opens and closes; 0: until killed
  std::uint64_t sync_percent = 25;      // of the rounds
  std::uint64_t open_files_max = 0;     // RLIMIT_NOFILE; 0: unchanged
  std::uint64_t file_size_max = 0;      // RLIMIT_FSIZE, with SIGXFSZ ignored; 0: unchanged
  std::uint64_t user = 0;               // setuid before Open; 0: unchanged
  std::uint64_t attempts = 20;          // at a round that fails, before the writer gives up; 0: no limit
  std::uint64_t mutant = 0;             // the Mutant of the writing process
  std::uint64_t read_every = 0;         // a writer reads its last round back after this many rounds; 0: never

  [[nodiscard]] std::string ToText() const;
  static Plan FromText(const std::string& text);
};

// A message of the writing process. Each is one write(2), so it arrives whole.
struct Message {
  enum class Kind : std::uint32_t {
    kOpening,
    kOpened,
    kOpenFailed,  // text: the status
    kAcked,       // writer, round: Write returned OK
    kSynced,      // as kAcked, for a write with sync or after a SyncWAL
    kFailed,      // text: the status of a write that failed and will be retried
    kFatal,       // text: the status of a write that failed with a fatal error
    kWrong,       // text: a violation that the process itself detected
    kClosing,
    kClosed,
    kCloseFailed,  // text
    kReadFailed,   // text: the status of a read
  };
  Kind kind = Kind::kOpening;
  std::uint32_t writer = 0;
  std::uint64_t round = 0;
  char text[240] = {};
};
static_assert(sizeof(Message) <= 512, "must fit into PIPE_BUF, so that a pipe takes it whole");

// Runs the writing process. Returns its exit code. Sends messages to `out`.
int RunWriter(const Plan& plan, int out);

// What the observing process knows of a database through all lives.
class History {
 public:
  // Sets the number of the life, and the round after which each writer continues.
  void BeginLife(Plan* plan);
  // Records a message. A sync that ends after the power is off does not count.
  void See(const Message& message, bool power_is_off = false);
  // Checks the contents of the database. Every synced round must have survived, and unless `only_synced` (after a power
  // cut), every acknowledged one. Returns "", or what is wrong. The next life continues from the state that was found.
  [[nodiscard]] std::string Check(DB* db, bool only_synced);

  [[nodiscard]] std::uint64_t total_rounds() const;
  [[nodiscard]] std::uint64_t lost_rounds() const { return lost_; }  // acknowledged, and lost in a power cut
  [[nodiscard]] bool was_open() const { return was_open_; }  // true if an Open has succeeded in any life

 private:
  struct Writer {
    std::uint64_t found = 0;                      // rounds that the last check saw
    std::uint64_t acked = 0;                      // in this life
    std::uint64_t synced = 0;
    std::map<std::uint64_t, std::uint64_t> lives;  // first round -> the life that wrote it and the following ones
  };
  using Contents = std::map<std::string, std::string>;
  [[nodiscard]] std::uint64_t LifeOf(std::size_t writer, std::uint64_t round) const;

  // The parts of Check. Each returns "", or what is wrong. They remove what they have checked from *contents.
  // *last becomes the last round of the writer that survived, *seen the rounds that it had seen.
  std::string CheckLastRound(std::size_t writer, Contents* contents, std::uint64_t* last, Rounds* seen) const;
  [[nodiscard]] std::string CheckCount(std::size_t writer, std::uint64_t last, bool only_synced) const;
  std::string CheckSlots(DB* db, std::size_t writer, std::uint64_t last, Contents* contents) const;
  [[nodiscard]] std::string CheckPrefix(const std::array<Rounds, kWriters>& seen) const;

  std::array<Writer, kWriters> writers_;
  std::uint64_t life_ = 0;
  std::uint64_t lost_ = 0;
  bool was_open_ = false;
};

}  // namespace cambium::testing
