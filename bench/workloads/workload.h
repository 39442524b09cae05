// Workload: a benchmark of --benchmarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/key.h"
#include "data/key_set.h"
#include "data/value.h"
#include "engines/engine.h"
#include "flags/bench_flags.h"
#include "meter/op_meter.h"
#include "util/prng.h"

namespace cambium::bench {

// State that a workload prepares once for all its workers, such as a distribution.
struct SharedState {
  virtual ~SharedState() = default;
};

// A Phase is one benchmark of --benchmarks on one engine: the state that its workers share.
struct Phase {
  const BenchFlags& flags;
  const ValuePool& pool;
  KeySet& keys;  // keys that may exist: a key is inserted before it is put
  KeyShape key_shape = {};
  const KeySet* lasting = nullptr;  // keys that exist during the whole phase
  std::uint64_t key_space = 0;  // ids are drawn from [0, key_space)
  std::uint64_t total_ops = 0;  // if the workers share the operations
  std::uint64_t seed = 0;       // of this phase alone
  std::uint64_t ordinal = 0;    // its place in --benchmarks
  std::shared_ptr<const SharedState> state = nullptr;  // made by Workload::prepare
};

// Returns the version that write `op` of a worker gives to a value: unique in a run, and the same in every run.
inline std::uint64_t VersionOf(const Phase& phase, unsigned worker, std::uint64_t op) {
  return phase.ordinal << 48 | static_cast<std::uint64_t>(worker) << 40 | op;
}

// A Worker is one thread of a phase.
struct Worker {
  Phase& phase;
  Session& session;
  OpMeter& meter;
  unsigned index = 0;
  Prng random{0};

  std::uint64_t reads = 0;
  std::uint64_t found = 0;
  std::uint64_t written_bytes = 0;  // of keys and values
  std::uint64_t aborts = 0;         // transactions that a conflict ended; each was repeated
  Status status = {};  // the first error; a wrong answer is Corruption
  // The ids that it wrote, in order: write i made Version(i). Ids that do not fit are left out. The measured loop
  // appends to it without waiting for memory.
  std::vector<std::uint32_t> log = {};
  bool log_overflowed = false;

  void Log(std::uint64_t id) {
    if (log.size() < log.capacity() && id <= 0xffffffffu) {
      log.push_back(static_cast<std::uint32_t>(id));
    } else {
      log_overflowed = true;
    }
  }

  // Returns the id of a key to look up: any of the phase, or a skewed choice with --read_random_exp_range.
  [[nodiscard]] std::uint64_t RandomId();

  [[nodiscard]] std::uint64_t Version(std::uint64_t op) const { return VersionOf(phase, index, op); }
};

enum class Effect : unsigned char { kReads, kWrites, kMaintains };
// The flag that gives the number of operations. kAll: one per existing key; kTrace: those of the trace.
enum class Count : unsigned char { kNum, kReads, kWrites, kDeletes, kOne, kAll, kYcsb, kTrace };

struct Workload {
  const char* name;
  const char* summary;
  Effect effect;
  Count count;
  bool fresh = false;              // begins with an empty database
  bool shared = false;             // the threads share the operations; otherwise each does all of them
  bool random = false;             // may run for a --duration
  bool sync = false;               // every write is synced
  bool mixes = false;              // workers read and write
  bool transacts = false;          // uses transactions, which an engine may lack
  std::uint64_t divisor = 1;       // of num
  std::uint64_t count_divisor = 1;  // of the number of operations alone
  // The size of the largest value that it makes, if sizes are not the pool's; and the number of keys that it adds
  // beyond --num.
  std::uint64_t (*value_room)(const BenchFlags&) = nullptr;
  std::uint64_t (*new_keys)(const BenchFlags&) = nullptr;
  // Returns what is wrong with the flags for this workload, or "". Called before anything runs.
  std::string (*complain)(const BenchFlags&) = nullptr;
  // Called once for all workers, before the clock starts.
  std::shared_ptr<const SharedState> (*prepare)(const Phase&) = nullptr;
  // Called first, while no session lives. The message is appended to the result line.
  Status (*maintain)(Engine*, std::string* message) = nullptr;
  void (*run)(Worker*) = nullptr;                    // called next, by every worker
  void (*beside)(Worker*) = nullptr;                 // by an additional thread, which writes until the workers are done
  bool beside_reads = false;                         // the additional thread reads
  unsigned (*threads)(const BenchFlags&) = nullptr;  // overrides --threads
  // Returns a message for the end of the result line.
  std::string (*tell)(const SharedState&) = nullptr;
  // Called last, after everything was measured, with the number of operations of all workers. Checks the database that
  // they leave, and notes in KeySet which versions are the last. For workloads without it, the workers' logs tell that.
  Status (*check)(const Phase&, Session*, std::uint64_t ops) = nullptr;
};

// Returns the shape of a run's keys.
KeyShape KeyShapeOf(const BenchFlags& flags);
// Returns the sizes of a run's values, unless a workload makes others.
ValueSizes ValueSizesOf(const BenchFlags& flags);
// Return the size of the largest value that the workloads of --benchmarks make, and the number of ids that may come to
// exist.
std::size_t ValueRoomOf(const BenchFlags& flags);
std::uint64_t KeyCapacityOf(const BenchFlags& flags);

// In workload_table.cc.
const std::vector<Workload>& Workloads();
// Returns null for an unknown name.
const Workload* FindWorkload(const std::string& name);
// Returns whether a workload of these names uses transactions.
bool HasTransactions(const std::vector<std::string>& names);
// Returns the index of the first name whose workload reads; names.size() if none does.
std::size_t FirstThatReads(const std::vector<std::string>& names);

// The bodies, in write.cc, read.cc, scan.cc and mix.cc.
void FillInOrder(Worker* worker);
void FillInBatches(Worker* worker);
void FillUniqueRandom(Worker* worker);
void WriteRandom(Worker* worker);
void WriteBeside(Worker* worker);
void FillLarge(Worker* worker);
std::uint64_t ValueRoomOfFill100K(const BenchFlags& flags);
void DeleteRandom(Worker* worker);
void DeleteInOrder(Worker* worker);
void UpdateRandom(Worker* worker);
void AppendRandom(Worker* worker);
std::uint64_t ValueRoomOfAppends(const BenchFlags& flags);
std::string ComplainOfAppends(const BenchFlags& flags);
void ReadRandomWriteRandom(Worker* worker);
void ReadRandom(Worker* worker);
void ReadRandomTogether(Worker* worker);
void ReadRandomAsync(Worker* worker);
void ReadMissing(Worker* worker);
void ReadForward(Worker* worker);
void ReadKeysForward(Worker* worker);
void ReadBackward(Worker* worker);
void SeekRandom(Worker* worker);
void SeekRandomKeys(Worker* worker);
void MakeCursors(Worker* worker);
void ScanBeside(Worker* worker);
void HoldCursor(Worker* worker);
void VerifyAll(Worker* worker);

// Transactions, in transaction.cc.
std::string ComplainOfTransactions(const BenchFlags& flags);
std::shared_ptr<const SharedState> PrepareTransactions(const Phase& phase);
void RunTransactions(Worker* worker);
Status CheckTransactions(const Phase& phase, Session* session, std::uint64_t commits);

// Traces, in replay.cc.
std::string ComplainOfTrace(const BenchFlags& flags);
std::string ComplainOfRecording(const BenchFlags& flags);
unsigned ThreadsOfReplay(const BenchFlags& flags);
unsigned OneThread(const BenchFlags& flags);
std::shared_ptr<const SharedState> PrepareTraceLoad(const Phase& phase);
void LoadForTrace(Worker* worker);
std::shared_ptr<const SharedState> PrepareReplay(const Phase& phase);
void Replay(Worker* worker);
std::string TellOfReplay(const SharedState& state);

}  // namespace cambium::bench
