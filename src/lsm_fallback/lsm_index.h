// LsmIndex: the Index whose layers are runs above levels of runs.
//
// A flush always makes a run on top. pick_compaction.h decides which runs and files are merged when, compaction.h does
// it; what is left here is the book-keeping between them. Nothing is kept from one compaction to the next: what is to
// be done follows from what lies where, also after the database was opened anew.
#pragma once

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
  CreateIndexFile create_file;  // runs
};

// Layers given to it are LsmLayers of the same comparator. Pick*, IsCompactionDue, Set*: any thread. Merge: one thread
// at a time. Must outlive outcomes.
class LsmIndex final : public Index {
 public:
  explicit LsmIndex(LsmIndexOptions options);

  [[nodiscard]] FlushChoice PickFlush(const Layers&, const MemtableShape&) const override { return FlushChoice::kMakeRun; }
  // Urgent: all runs are to go down. That leaves what larger levels hide: a CompactionRequest finds that.
  [[nodiscard]] bool IsCompactionDue(const Layers& layers, bool urgent) const override;
  bool IsCompactionDue(const Layers& layers, CompactionRequest* request) const override;
  [[nodiscard]] double ExpectedBytes(const Layers& layers, const MemtableShape& memtable,
                                     const UpdateShape& update) const override;
  // The choice that is due; if none is, all runs go down; if there is none either, the outcome changes nothing. A
  // memtable is InvalidArgument: nothing is ever merged straight in.
  Result<std::unique_ptr<CompactionOutcome>> Compact(const CompactionInput& input) override;
  void SetOptions(const ColumnFamilyOptions& options) override;
  void SealFiles() override {}  // no file is ever appended to

  // From the next choice on.
  void SetPolicy(const CompactionPolicy& policy);
  [[nodiscard]] CompactionPolicy policy() const;

 private:
  // What may change, and all that a merge begins with is read at once.
  struct Tuning {
    CompactionPolicy policy;
    unsigned filter_bits_per_key = 0;
    Codec compression = Codec::kNone;
  };
  [[nodiscard]] Tuning tuning() const;

  const LsmIndexOptions options_;  // but for what tuning_ has
  mutable Mutex mutex_;
  Tuning tuning_ CAMBIUM_GUARDED_BY(mutex_);
};

// As far as options of the family speak of compactions.
[[nodiscard]] CompactionPolicy CompactionPolicyOf(const ColumnFamilyOptions& options);

}  // namespace cambium
