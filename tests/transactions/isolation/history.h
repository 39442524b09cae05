// History: what the clients of a database know of one of its lives, from an Open to the next crash or Close.
//
// Each write has a version of its own: the id of its transaction, and its number within the transaction, from 0. A
// value in the database contains the version of its write, so a read shows whose write it has read. The value of a list
// contains the versions of all its appends, in their order.
//
// Each client writes down its transactions as lines of text, so that they outlive its process. A last line without a
// newline was cut off by the end of the process, and does not count:
//
//   tx 7 thread 2 snapshot|serializable sees|- call 10 return 11 sync|- commit 15|- : OPS    before a commit, and at
//                                                                                          the end without one
//   prepare 7 call 13 sync|-       before Prepare
//   prepared 7 14                  Prepare has returned OK
//   commit 7 15                    before the commit of a prepared transaction
//   rollback 7 15                  before its rollback
//   committed|aborted|unknown 7 16 how the commit or rollback has ended; "unknown" after an error of the disk
//   synced 20 21                   SyncWAL was called at 20, and returned OK at 21
//
// OPS: "r KEY VALUE" read, "w KEY VALUE" wrote, "d KEY VERSION" deleted, each with "!" behind the letter if a rollback
// to a save point has undone it, and "u" where it was undone. VALUE: "-" for a key that does not exist, VERSION for a
// register, [VERSION,VERSION] for a list. VERSION: 7.0.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace cambium::testing::isolation {

// Moments are the values of one counter that all threads of a process share.
using Time = std::uint64_t;
inline constexpr Time kNever = ~Time{0};

struct Version {
  std::uint64_t transaction = 0;  // 0: no write
  std::uint32_t write = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};
inline constexpr Version kNoVersion{};
// The id of a reader that stands for what the next life has found (see checker.h).
inline constexpr std::uint64_t kNextLife = ~std::uint64_t{0};

struct Value {
  Version version;            // kNoVersion: the key does not exist
  std::vector<Version> list;  // of a list: its appends, the last one is `version`
  friend bool operator==(const Value&, const Value&) = default;
};
[[nodiscard]] Value ListOf(std::vector<Version> list);

struct Op {
  enum class Kind : unsigned char { kRead, kWrite, kDelete, kUndo };
  Kind kind = Kind::kRead;
  std::string key;
  Value value;  // what was read or written; of a delete, its version
  bool is_undone = false;
};

// What a level promises: see dependency_graph.h.
enum class Level : unsigned char { kSnapshot, kSerializable };

enum class Outcome : unsigned char {
  kCommitted,
  kAborted,   // rolled back, refused, or never ended
  kUnknown,   // the commit was called, and has not returned, or with an error of the disk
  kPrepared,  // it is prepared, and neither commit nor rollback was called
};

struct TxRecord {
  std::uint64_t id = 0;
  std::uint32_t thread = 0;
  Level level = Level::kSerializable;
  // All its reads see the state of one moment, even if it does not commit. Otherwise only a commit proves its reads.
  bool sees_snapshot = false;
  bool is_synced = false;  // its commit
  Time begin_call = 0;     // of the call that begins it, and takes the snapshot if there is one
  Time begin_return = kNever;
  Time commit_call = kNever;
  Time commit_return = kNever;
  Outcome outcome = Outcome::kAborted;
  // Two phases. It was prepared if prepare_return is a moment, and perhaps if prepare_call is one.
  Time prepare_call = kNever;
  Time prepare_return = kNever;
  bool is_prepare_synced = false;
  Time rollback_call = kNever;
  std::vector<Op> ops;
};

struct SyncCall {
  Time call = 0;
  Time called_back = 0;
};

// The contents of a database.
struct State {
  std::map<std::string, Value> values;  // of the keys that exist
  std::set<std::uint64_t> receipts;     // the transactions that have left their receipt: see client.h
  std::set<std::uint64_t> prepared;     // the transactions that are prepared
};

struct History {
  State base;  // when the life began
  std::vector<TxRecord> transactions;
  std::vector<SyncCall> syncs;
};

// "transaction 7", or "the next life".
[[nodiscard]] std::string NameOf(const TxRecord& record);
[[nodiscard]] std::string ToText(Version version);
[[nodiscard]] std::string ToText(const Value& value);
[[nodiscard]] std::string ToText(const Op& op);
// The line "tx ...", without a newline.
[[nodiscard]] std::string ToText(const TxRecord& record);

// False if the text is no version or value.
[[nodiscard]] bool ParseValue(const std::string& text, Value* value);
// Adds the transactions of one client's lines. A last line without its newline is left out. Returns "", or the line
// that is malformed. `history` may have transactions that were prepared in an earlier life: lines that end them are
// taken for those.
[[nodiscard]] std::string ParseLines(const std::string& lines, History* history);

}  // namespace cambium::testing::isolation
