// Workload: what one word of --benchmarks does.
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

// What a workload prepares once for all its workers, such as a distribution.
struct SharedState {
  virtual ~SharedState() = default;
};

// What the workers of a phase share: one benchmark of the list, on one engine.
struct Phase {
  const BenchFlags& flags;
  const ValuePool& pool;
  KeySet& keys;                    // what may exist: a key is in it before it is put
  KeyShape key_shape = {};
  const KeySet* lasting = nullptr;  // what exists as long as the phase lasts
  std::uint64_t key_space = 0;  // ids are drawn from [0, key_space)
  std::uint64_t total_ops = 0;  // where the workers share the operations
  std::uint64_t seed = 0;       // of this phase
  std::uint64_t ordinal = 0;    // which benchmark of the list it is
  std::shared_ptr<const SharedState> state = nullptr;  // what Workload::prepare made
};

// The version that write `op` of a worker gives to a value: different for every write of a run, the same in every run.
inline std::uint64_t VersionOf(const Phase& phase, unsigned worker, std::uint64_t op) {
  return phase.ordinal << 48 | static_cast<std::uint64_t>(worker) << 40 | op;
}

// One thread of a phase.
struct Worker {
  Phase& phase;
  Session& session;
  OpMeter& meter;
  unsigned index = 0;
  Prng random{0};

  std::uint64_t reads = 0;
  std::uint64_t found = 0;
  std::uint64_t written_bytes = 0;  // of keys and values
  Status status = {};  // the first error; a wrong answer is Corruption
  // The ids of its writes, in their order: write i made Version(i). As many as there was room for; written in a row, so
  // that the loop that is measured never waits for the memory of an id.
  std::vector<std::uint32_t> log = {};
  bool log_overflowed = false;

  void Log(std::uint64_t id) {
    if (log.size() < log.capacity() && id <= 0xffffffffu) {
      log.push_back(static_cast<std::uint32_t>(id));
    } else {
      log_overflowed = true;
    }
  }

  // A key to look up: any of the phase's, or near some of them with --read_random_exp_range.
  [[nodiscard]] std::uint64_t RandomId();

  [[nodiscard]] std::uint64_t Version(std::uint64_t op) const { return VersionOf(phase, index, op); }
};

enum class Effect : unsigned char { kReads, kWrites, kMaintains };
// Which flag says how many operations; kAll: as many as there are keys; kTrace: what the trace has.
enum class Count : unsigned char { kNum, kReads, kWrites, kDeletes, kOne, kAll, kYcsb, kTrace };

struct Workload {
  const char* name;
  const char* summary;
  Effect effect;
  Count count;
  bool fresh = false;              // begins with an empty database
  bool shared = false;             // the threads share the operations; otherwise each does all of them
  bool random = false;             // may run for a --duration
  bool sync = false;               // always synced
  bool mixes = false;              // reads and writes by turns
  std::uint64_t divisor = 1;       // of num
  std::uint64_t count_divisor = 1;  // of the number of operations alone
  // The largest value that it makes, whatever the pool's sizes; and how many keys it adds that no flag names.
  std::uint64_t (*value_room)(const BenchFlags&) = nullptr;
  std::uint64_t (*new_keys)(const BenchFlags&) = nullptr;
  // What is wrong with the flags for this workload, or "". Asked before anything runs.
  std::string (*complain)(const BenchFlags&) = nullptr;
  // Called once for all workers, before the clock starts.
  std::shared_ptr<const SharedState> (*prepare)(const Phase&) = nullptr;
  // First, with no session alive; the message goes to the end of the result line.
  Status (*maintain)(Engine*, std::string* message) = nullptr;
  void (*run)(Worker*) = nullptr;     // then, by every worker
  void (*beside)(Worker*) = nullptr;  // by one thread more, which writes until the workers are through
  bool beside_reads = false;          // no, it reads
  unsigned (*threads)(const BenchFlags&) = nullptr;  // how many it has, whatever --threads says
  // What is said of it at the end of the result line.
  std::string (*tell)(const SharedState&) = nullptr;
};

// What the keys of a run look like.
KeyShape KeyShapeOf(const BenchFlags& flags);
// How large its values are, unless a workload makes others.
ValueSizes ValueSizesOf(const BenchFlags& flags);
// The largest value that a list of workloads makes, and the number of ids that may come to exist.
std::size_t ValueRoomOf(const BenchFlags& flags);
std::uint64_t KeyCapacityOf(const BenchFlags& flags);

const std::vector<Workload>& Workloads();
// Null if there is none of that name.
const Workload* FindWorkload(const std::string& name);
// Where in a list of such names the first stands that reads; the list's size if none does.
std::size_t FirstThatReads(const std::vector<std::string>& names);

// The bodies, in workloads/.
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

// Traces, in workloads/replay.cc.
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
