// LsmIndex: the Index whose layers are runs above levels of runs.
//
// A flush always makes a run on top. pick_compaction.h decides which files are compacted when, level_compaction.h does
// the work; this class connects the two. It keeps no state from one compaction to the next: which compaction is due
// follows from the layers alone, also after the next Open.
#pragma once

#include <cstdint>
#include <memory>

#include "index/family_files.h"
#include "index/index.h"
#include "lsm_fallback/lsm_layers.h"
#include "lsm_fallback/pick_compaction.h"
#include "util/compression.h"
#include "util/mutex.h"

namespace cambium {

struct LsmIndexOptions {
  const Comparator* comparator = nullptr;
  PagePool* pool = nullptr;
  std::uint32_t page_size = 4096;
  unsigned filter_bits_per_key = 10;
  Codec compression = Codec::kNone;  // of level files, see RunOptions
  std::uint32_t block_size = 0;
  CompactionPolicy policy;
  CreateIndexFile create_file;  // for runs
};

// All layers passed to it must be LsmLayers with its comparator. PickFlush, IsCompactionDue, SetOptions, SetPolicy,
// SetRoom: any thread. Compact: one thread at a time. Must outlive its outcomes.
class LsmIndex final : public Index {
 public:
  explicit LsmIndex(LsmIndexOptions options);

  [[nodiscard]] FlushChoice PickFlush(const Layers&, const MemtableShape&) const override { return FlushChoice::kMakeRun; }
  // If urgent, also true while there are runs. Does not look for hidden entries in the levels: a CompactionRequest
  // finds these.
  [[nodiscard]] bool IsCompactionDue(const Layers& layers, bool urgent) const override;
  bool IsCompactionDue(const Layers& layers, CompactionRequest* request) const override;
  [[nodiscard]] double ExpectedBytes(const Layers& layers, const MemtableShape& memtable,
                                     const UpdateShape& update) const override;
  // Carries out the choice that is due. If none is, compacts all runs; if there are none either, the outcome changes
  // nothing. InvalidArgument if the input has a memtable: an LSM flushes a memtable to a run, and never merges it into
  // levels.
  Result<std::unique_ptr<CompactionOutcome>> Compact(const CompactionInput& input) override;
  void SetOptions(const ColumnFamilyOptions& options) override;
  void SetRoom(const IndexRoom& room) override;
  void SealFiles() override {}  // no file is ever appended to

  // Takes effect from the next choice on.
  void SetPolicy(const CompactionPolicy& policy);
  // The policy in force, which the room may have changed.
  [[nodiscard]] CompactionPolicy policy() const;

 private:
  // The options that may change. A compaction reads all of them once, when it begins.
  struct Tuning {
    CompactionPolicy policy;
    unsigned filter_bits_per_key = 0;
    Codec compression = Codec::kNone;
  };
  [[nodiscard]] Tuning tuning() const;

  const LsmIndexOptions options_;  // fields that tuning_ also has are only initial values
  mutable Mutex mutex_;
  Tuning tuning_ CAMBIUM_GUARDED_BY(mutex_);
  IndexRoom room_ CAMBIUM_GUARDED_BY(mutex_);
};

// The options of the family that concern compactions.
[[nodiscard]] CompactionPolicy CompactionPolicyOf(const ColumnFamilyOptions& options);

}  // namespace cambium
