#include "workloads/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "workloads/mixgraph/mixgraph.h"
#include "workloads/ycsb/ycsb.h"

namespace cambium::bench {
namespace {

Status FlushEngine(Engine* engine, std::string*) { return engine->Flush(); }
Status CompactEngine(Engine* engine, std::string*) { return engine->Compact(); }
Status WaitForEngine(Engine* engine, std::string*) { return engine->WaitForCompaction(); }
Status PrintLevels(Engine* engine, std::string* message) {
  const std::string text = engine->LevelStats();
  if (text.empty()) return Status::NotSupported("the engine has no levels");
  std::printf("%s\n", text.c_str());
  *message = "above";
  return {};
}
Status PrintStats(Engine* engine, std::string* message) {
  const std::string text = engine->Stats();
  if (text.empty()) return Status::NotSupported("the engine has no statistics");
  std::printf("%s\n", text.c_str());
  *message = "above";
  return {};
}
Status VerifyEngine(Engine* engine, std::string* message) { return engine->Verify(message); }

}  // namespace

std::uint64_t Worker::RandomId() {
  const double range = phase.flags.read_random_exp_range;
  if (range == 0) return random.Uniform(phase.key_space);
  // As db_bench: exponentially more of the first keys, which are then scattered by a prime.
  const double place = std::exp(-random.NextDouble() * range) * static_cast<double>(phase.key_space);
  return static_cast<std::uint64_t>(place) * 0x5bd1e995u % phase.key_space;
}

KeyShape KeyShapeOf(const BenchFlags& flags) {
  KeyShape shape(flags.key_size);
  shape.style = flags.key_style;
  shape.value_size = flags.value_size;
  shape.digits = flags.ycsb.zero_padding;
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

std::size_t ValueRoomOf(const BenchFlags& flags) {
  std::size_t room = ValueSizesOf(flags).max;
  for (const std::string& name : flags.benchmarks) {
    const Workload* workload = FindWorkload(name);
    if (workload->value_room != nullptr) room = std::max<std::size_t>(room, workload->value_room(flags));
  }
  return room;
}

std::uint64_t KeyCapacityOf(const BenchFlags& flags) {
  std::uint64_t keys = flags.num;
  for (const std::string& name : flags.benchmarks) {
    const Workload* workload = FindWorkload(name);
    if (workload->new_keys != nullptr) keys += workload->new_keys(flags);
  }
  return keys;
}

// A long function, but one table: a row per workload, in the order of `bench --list`.
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
      {.name = "fill100K",
       .summary = "N/1000 values of 100,000 bytes at random keys into an empty database",
       .effect = Effect::kWrites, .count = Count::kWrites, .fresh = true, .random = true, .divisor = 1000,
       .value_room = ValueRoomOfFill100K, .run = FillLarge},
      {.name = "overwrite",
       .summary = "N values at random keys of the existing database",
       .effect = Effect::kWrites, .count = Count::kWrites, .random = true, .run = WriteRandom},
      {.name = "overwritehalf",
       .summary = "N values at random keys of the lower half; the upper half stays as it is",
       .effect = Effect::kWrites, .count = Count::kWrites, .random = true, .divisor = 2, .run = WriteRandom},
      {.name = "overwritewhilepinned",
       .summary = "overwrite, while one more thread holds an iterator that was made before the first write",
       .effect = Effect::kWrites, .count = Count::kWrites, .random = true, .run = WriteRandom, .beside = HoldCursor,
       .beside_reads = true},
      {.name = "updaterandom",
       .summary = "N times: read a random key, then write it",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .mixes = true, .run = UpdateRandom},
      {.name = "appendrandom",
       .summary = "N times: read a random key, then write its value extended by --value_size bytes (up to 256 times)",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .mixes = true,
       .value_room = ValueRoomOfAppends, .complain = ComplainOfAppends, .run = AppendRandom},
      {.name = "readrandomwriterandom",
       .summary = "N operations at random keys: --readwritepercent of a hundred are reads, the others writes",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .mixes = true, .run = ReadRandomWriteRandom},
      {.name = "deleteseq",
       .summary = "N deletes in key order",
       .effect = Effect::kWrites, .count = Count::kDeletes, .shared = true, .run = DeleteInOrder},
      {.name = "deleterandom",
       .summary = "N deletes of random keys",
       .effect = Effect::kWrites, .count = Count::kDeletes, .random = true, .run = DeleteRandom},
      {.name = "readrandom",
       .summary = "N reads of random keys",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandom},
      {.name = "readrandomsmall",
       .summary = "readrandom with a thousandth of the operations",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .count_divisor = 1000, .run = ReadRandom},
      {.name = "multireadrandom",
       .summary = "N reads of random keys, --batch_size keys per call; latencies are per call",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandomTogether},
      {.name = "readrandomasync",
       .summary = "N reads of random keys, --async_depth in flight per thread (one, if the engine cannot)",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandomAsync},
      {.name = "readmissing",
       .summary = "N reads of keys that do not exist: random keys with one more byte",
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
      {.name = "newiterator",
       .summary = "N times: make an iterator",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = MakeCursors},
      {.name = "seekrandom",
       .summary = "N times: make an iterator, seek to a random key, read --seek_nexts entries",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = SeekRandom},
      {.name = "seekrandomkeys",
       .summary = "seekrandom without reading values",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = SeekRandomKeys},
      {.name = "readwhilewriting",
       .summary = "readrandom, while one more thread overwrites random keys",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandom, .beside = WriteBeside},
      {.name = "readwhilesyncing",
       .summary = "readwhilewriting, with every write synced",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .sync = true, .run = ReadRandom,
       .beside = WriteBeside},
      {.name = "readwhilescanning",
       .summary = "readrandom, while one more thread scans all entries, again and again",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandom, .beside = ScanBeside,
       .beside_reads = true},
      {.name = "multireadwhilewriting",
       .summary = "multireadrandom with a writer as in readwhilewriting",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = ReadRandomTogether, .beside = WriteBeside},
      {.name = "seekrandomwhilewriting",
       .summary = "seekrandom with a writer as in readwhilewriting",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .run = SeekRandom, .beside = WriteBeside},
      {.name = "seekrandomwhilesyncing",
       .summary = "seekrandom with a writer as in readwhilesyncing",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .sync = true, .run = SeekRandom,
       .beside = WriteBeside},
      {.name = "mixgraph",
       .summary = "N gets, puts and scans drawn from FAST 2020's model of production stores; see --mix_get_ratio",
       .effect = Effect::kReads, .count = Count::kReads, .random = true, .mixes = true,
       .value_room = ValueRoomOfMixgraph, .complain = ComplainOfMixgraph, .prepare = PrepareMixgraph, .run = RunMixgraph},
      {.name = "traceload",
       .summary = "load the keys that --trace_file reads before it writes them into an empty database",
       .effect = Effect::kWrites, .count = Count::kTrace, .fresh = true, .complain = ComplainOfTrace,
       .prepare = PrepareTraceLoad, .run = LoadForTrace, .threads = OneThread},
      {.name = "replay",
       .summary = "replay --trace_file with --trace_replay_threads, at --trace_replay_fast_forward times its speed",
       .effect = Effect::kReads, .count = Count::kTrace, .mixes = true, .complain = ComplainOfTrace,
       .prepare = PrepareReplay, .run = Replay, .threads = ThreadsOfReplay, .tell = TellOfReplay},
      {.name = "ycsb_load",
       .summary = "YCSB: load --record_count records into an empty database",
       .effect = Effect::kWrites, .count = Count::kNum, .fresh = true, .shared = true, .complain = ComplainOfYcsb,
       .run = FillInOrder},
      {.name = "ycsb_a",
       .summary = "YCSB A: half reads, half updates, zipfian; --operation_count for all threads together",
       .effect = Effect::kReads, .count = Count::kYcsb, .shared = true, .random = true, .mixes = true,
       .complain = ComplainOfYcsb, .prepare = PrepareYcsb, .run = RunYcsbA},
      {.name = "ycsb_b",
       .summary = "YCSB B: 95 % reads, 5 % updates, zipfian",
       .effect = Effect::kReads, .count = Count::kYcsb, .shared = true, .random = true, .mixes = true,
       .complain = ComplainOfYcsb, .prepare = PrepareYcsb, .run = RunYcsbB},
      {.name = "ycsb_c",
       .summary = "YCSB C: reads, zipfian",
       .effect = Effect::kReads, .count = Count::kYcsb, .shared = true, .random = true, .complain = ComplainOfYcsb,
       .prepare = PrepareYcsb, .run = RunYcsbC},
      {.name = "ycsb_d",
       .summary = "YCSB D: 95 % reads of the latest records, 5 % inserts",
       .effect = Effect::kReads, .count = Count::kYcsb, .shared = true, .random = true, .mixes = true,
       .new_keys = NewKeysOfYcsbD, .complain = ComplainOfYcsb, .prepare = PrepareYcsb, .run = RunYcsbD},
      {.name = "ycsb_e",
       .summary = "YCSB E: 95 % scans of up to 100 records, 5 % inserts, zipfian",
       .effect = Effect::kReads, .count = Count::kYcsb, .shared = true, .random = true, .mixes = true,
       .new_keys = NewKeysOfYcsbE, .complain = ComplainOfYcsb, .prepare = PrepareYcsbE, .run = RunYcsbE},
      {.name = "ycsb_f",
       .summary = "YCSB F: half reads, half read-modify-writes, zipfian",
       .effect = Effect::kReads, .count = Count::kYcsb, .shared = true, .random = true, .mixes = true,
       .complain = ComplainOfYcsb, .prepare = PrepareYcsb, .run = RunYcsbF},
      {.name = "flush",
       .summary = "flush the memtable",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = FlushEngine},
      {.name = "compact",
       .summary = "compact the whole key range",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = CompactEngine},
      {.name = "waitforcompaction",
       .summary = "wait until the engine has no background work left",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = WaitForEngine},
      {.name = "compactall",
       .summary = "the same as compact",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = CompactEngine},
      {.name = "verifychecksum",
       .summary = "the engine's own check of its files",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = VerifyEngine},
      {.name = "levelstats",
       .summary = "print the engine's levels",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = PrintLevels},
      {.name = "stats",
       .summary = "print the engine's own statistics",
       .effect = Effect::kMaintains, .count = Count::kOne, .maintain = PrintStats},
      {.name = "verify",
       .summary = "the engine's own check of its files; then read every entry and compare it with what was written",
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
