#include "workload.h"

#include <algorithm>
#include <cmath>

namespace cambium::bench {
namespace {

Status FlushEngine(Engine* engine, std::string*) { return engine->Flush(); }
Status CompactEngine(Engine* engine, std::string*) { return engine->Compact(); }
Status WaitForEngine(Engine* engine, std::string*) { return engine->WaitForCompaction(); }
Status VerifyEngine(Engine* engine, std::string* message) { return engine->Verify(message); }

}  // namespace

std::uint64_t Worker::RandomId() {
  const double range = phase.flags.read_random_exp_range;
  if (range == 0) return random.Uniform(phase.key_space);
  // db_bench's: exponentially many of the first keys, which a prime then scatters.
  const double place = std::exp(-random.NextDouble() * range) * static_cast<double>(phase.key_space);
  return static_cast<std::uint64_t>(place) * 0x5bd1e995u % phase.key_space;
}

KeyShape KeyShapeOf(const BenchFlags& flags) {
  KeyShape shape(flags.key_size);
  shape.style = flags.key_style;
  shape.value_size = flags.value_size;
  if (flags.keys_per_prefix > 0) {
    shape.prefix_size = flags.prefix_size;
    shape.prefix_count = std::max<std::uint64_t>(1, flags.num / flags.keys_per_prefix);
  }
  return shape;
}

ValueSizes ValueSizesOf(const BenchFlags& flags) {
  if (flags.value_size_distribution_type == SizeDistribution::kFixed) return ValueSizes::Fixed(flags.value_size);
  return {flags.value_size_distribution_type, flags.value_size_min, flags.value_size_max};
}

const std::vector<Workload>& Workloads() {
  static const std::vector<Workload> kWorkloads = {
      {.name = "fillseq",
       .summary = "N values in key order into an empty database; the threads share them",
       .effect = Effect::kWrites, .count = Count::kWrites, .fresh = true, .shared = true, .run = FillInOrder},
      {.name = "fillbatch",
       .summary = "fillseq in batches of 1000",
       .effect = Effect::kWrites, .count = Count::kWrites, .fresh = true, .shared = true, .run = FillInBatches},
      {.name = "fillrandom",
       .summary = "N values at random keys, drawn with replacement, into an empty database",
       .effect = Effect::kWrites, .count = Count::kWrites, .fresh = true, .random = true, .run = WriteRandom},
      {.name = "filluniquerandom",
       .summary = "every key once, in random order, into an empty database; the threads share them",
       .effect = Effect::kWrites, .count = Count::kNum, .fresh = true, .shared = true, .run = FillUniqueRandom},
      {.name = "fillsync",
       .summary = "N/1000 values at random keys (or --writes of them), each synced, into an empty database",
       .effect = Effect::kWrites, .count = Count::kWrites, .fresh = true, .random = true, .sync = true,
       .divisor = 1000, .run = WriteRandom},
      {.name = "overwrite",
       .summary = "N values at random keys into what is there",
       .effect = Effect::kWrites, .count = Count::kWrites, .random = true, .run = WriteRandom},
      {.name = "overwritehalf",
       .summary = "N values at random keys of the lower half: the others stay as they are",
       .effect = Effect::kWrites, .count = Count::kWrites, .random = true, .divisor = 2, .run = WriteRandom},
      {.name = "deleterandom",
       .summary = "N deletes of random keys",
       .effect = Effect::kWrites, .count = Count::kDeletes, .random = true, .run = DeleteRandom},
      {.name = "readrandom",
       .summary = "N reads of random keys",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandom},
      {.name = "multireadrandom",
       .summary = "N reads of random keys, --batch_size of them by one call; latencies are those of a call",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandomTogether},
      {.name = "readmissing",
       .summary = "N reads of random keys that do not exist: one byte longer",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadMissing},
      {.name = "readseq",
       .summary = "N entries in key order",
       .effect = Effect::kReads, .count = Count::kReads, .run = ReadForward},
      {.name = "readseqkeys",
       .summary = "N keys in order, without their values",
       .effect = Effect::kReads, .count = Count::kReads, .run = ReadKeysForward},
      {.name = "readreverse",
       .summary = "N entries in reverse key order",
       .effect = Effect::kReads, .count = Count::kReads, .run = ReadBackward},
      {.name = "seekrandom",
       .summary = "N times a new iterator, a seek to a random key, and --seek_nexts entries",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = SeekRandom},
      {.name = "seekrandomkeys",
       .summary = "seekrandom that asks for no value",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = SeekRandomKeys},
      {.name = "readwhilewriting",
       .summary = "readrandom, and beside it one thread more that overwrites random keys until the readers are through",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandom, .beside = WriteBeside},
      {.name = "readwhilesyncing",
       .summary = "readwhilewriting; each write is synced, as with --sync",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .sync = true, .run = ReadRandom,
       .beside = WriteBeside},
      {.name = "seekrandomwhilewriting",
       .summary = "seekrandom beside such a writer",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = SeekRandom, .beside = WriteBeside},
      {.name = "flush",
       .summary = "flush the memory table",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = FlushEngine},
      {.name = "compact",
       .summary = "compact the whole key range",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = CompactEngine},
      {.name = "waitforcompaction",
       .summary = "wait until the engine has nothing left to do in the background",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = WaitForEngine},
      {.name = "verify",
       .summary = "the engine's own check of its files; then every entry is read and compared with what was written",
       .effect = Effect::kMaintains, .count = Count::kAll, .maintain = VerifyEngine, .run = VerifyAll},
  };
  return kWorkloads;
}

const Workload* FindWorkload(const std::string& name) {
  for (const Workload& workload : Workloads()) {
    if (name == workload.name) return &workload;
  }
  return nullptr;
}

std::size_t FirstThatReads(const std::vector<std::string>& names) {
  std::size_t i = 0;
  while (i < names.size() && FindWorkload(names[i])->effect != Effect::kReads) ++i;
  return i;
}

}  // namespace cambium::bench
