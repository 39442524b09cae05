// LsmLayers: the durable layers of a family with an LSM.
//
//   runs[0]    newest
//   ...        level 0: each run may have any key
//   runs[n]
//   tiers[0]   level 1, its newest tier
//   ...
//   tiers[m]   the last level's oldest tier
//
// Each layer hides those below it. tier.h says what a tier is.
#pragma once

#include <memory>
#include <vector>

#include "index/family_files.h"
#include "index/index.h"
#include "lsm_fallback/tier.h"
#include "manifest/state.h"

namespace cambium {

class LsmLayers final : public Layers {
 public:
  // The contents. Immutable after construction.
  struct Parts {
    const Comparator* comparator = nullptr;
    PagePool* pool = nullptr;
    RunList runs;                                    // level 0, newest first
    std::vector<std::shared_ptr<const Tier>> tiers;  // by ascending level; within a level by descending number
  };
  explicit LsmLayers(Parts parts);

  // Opens every run that the committed state names and checks it against the state. Checks under the actual comparator
  // that the runs of a tier do not overlap; Corruption, naming the files, if they do.
  static Result<std::shared_ptr<const LsmLayers>> Open(const FamilyState& state, const Comparator* comparator,
                                                       PagePool* pool, const OpenIndexFile& open_file);

  using Layers::Find;
  Result<bool> Find(Slice key, PageRef* keep, Entry* entry, FoundIn* where) const override;
  void FindTogether(std::span<Lookup> lookups) const override;
  void AppendCursors(std::vector<MergeChild>* children) const override;
  Result<std::uint64_t> ApproximateSize(Slice begin, Slice end) const override;
  [[nodiscard]] Result<TreePart> CoveredByRanges() const override;
  [[nodiscard]] const std::vector<std::shared_ptr<const Run>>& runs() const override { return parts_.runs; }
  [[nodiscard]] std::shared_ptr<const Layers> WithNewestRun(std::shared_ptr<const Run> run) const override;
  void AppendFiles(std::vector<NumberedFile>* files) const override;

  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const std::vector<std::shared_ptr<const Tier>>& tiers() const { return parts_.tiers; }

 private:
  [[nodiscard]] LayersShape Measure() const override;
  Result<bool> FindInRuns(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry, FoundIn* where) const;
  Result<bool> FindInTiers(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry, FoundIn* where) const;
  // Only in a mutant.
  Result<bool> FindOldestFirst(Slice key, std::uint64_t filter_hash, PageRef* keep, Entry* entry, FoundIn* where) const;

  const Parts parts_;
  const KeyOrder order_;
};

}  // namespace cambium
