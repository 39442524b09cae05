// What a process writes until it dies, and how another process tells afterwards what became of it.
//
// Each writer thread counts rounds. Round r is one batch: ten keys of slot r % kSlots, one per leading digit, so that
// they lie far apart in the order of keys, and the key "last-wN", which says r. One round in five deletes its ten keys.
// What a key must hold follows from writer, round, key and life (the number of the process that wrote it) alone. So
// when "last-wN" says r, all that writer N has left behind is known byte by byte; a batch that is back in part shows,
// and so does one that an earlier recovery had discarded.
//
// "last-wN" also says how many rounds of each writer were acknowledged when the batch was made. These must then be back
// too: what comes back is a prefix of all batches, not only of each writer's.
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

// Options of both processes. Tiny ones flush, rotate and merge every few rounds. Those that keep all have no ceiling.
[[nodiscard]] Options WorkloadOptions(Size size);

// What the writing process is to do. Travels as arguments of its command line.
struct Plan {
  std::string directory;
  Size size = Size::kTiny;
  std::uint64_t life = 1;
  std::uint64_t seed = 0;
  Rounds done{};                        // the rounds that the database holds
  std::uint64_t rounds = 0;             // per writer and opening; 0: until killed
  std::uint64_t openings = 1;           // opens and closes so often; 0: until killed
  std::uint64_t sync_percent = 25;      // of the rounds
  std::uint64_t open_files_max = 0;     // RLIMIT_NOFILE; 0: as it is
  std::uint64_t file_size_max = 0;      // RLIMIT_FSIZE, with SIGXFSZ ignored
  std::uint64_t user = 0;               // setuid before opening
  std::uint64_t attempts = 20;          // at a round that fails, before the writer gives up; 0: never
  std::uint64_t mutant = 0;             // the defect that the writing process has, a Mutant
  std::uint64_t read_every = 0;         // so many rounds of a writer it reads its last one in every way; 0: never

  [[nodiscard]] std::string ToText() const;
  static Plan FromText(const std::string& text);
};

// What the writing process tells; one write(2) each, so never in part.
struct Message {
  enum class Kind : std::uint32_t {
    kOpening,
    kOpened,
    kOpenFailed,  // text: the status
    kAcked,       // writer, round: Write returned OK
    kSynced,      // the same, with sync or a SyncWAL behind it
    kFailed,      // text: the status of a write that failed; it will be tried again
    kFatal,       // text: the status of the write that found the database to be read-only from now on
    kWrong,       // text: what the process itself saw go against the rules
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
static_assert(sizeof(Message) <= 512, "what a pipe takes whole: PIPE_BUF");

// The writing process, from its first line to its exit code. Messages go to `out`.
int RunWriter(const Plan& plan, int out);

// What the watching process knows of a database through all lives.
class History {
 public:
  // Life numbers, and where each writer goes on.
  void BeginLife(Plan* plan);
  // A sync that ends with the power already off promises nothing.
  void See(const Message& message, bool power_is_off = false);
  // Whether everything acknowledged must be back (the process died), or only what was synced (the power went).
  // "" or what is wrong. What is found is taken as the state from which the next life goes on.
  [[nodiscard]] std::string Check(DB* db, bool only_synced);

  [[nodiscard]] std::uint64_t total_rounds() const;
  [[nodiscard]] std::uint64_t lost_rounds() const { return lost_; }  // acknowledged, and taken by a power cut
  [[nodiscard]] bool was_open() const { return was_open_; }  // in some life

 private:
  struct Writer {
    std::uint64_t found = 0;                      // rounds that the last check saw
    std::uint64_t acked = 0;                      // in this life
    std::uint64_t synced = 0;
    std::map<std::uint64_t, std::uint64_t> lives;  // first round -> life that wrote it and those that follow
  };
  [[nodiscard]] std::uint64_t LifeOf(std::size_t writer, std::uint64_t round) const;

  std::array<Writer, kWriters> writers_;
  std::uint64_t life_ = 0;
  std::uint64_t lost_ = 0;
  bool was_open_ = false;
};

}  // namespace cambium::testing
