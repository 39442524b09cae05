// LsmFamily: an IndexFamily whose index is the LSM.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lsm_fallback/lsm_index.h"
#include "lsm_fallback/lsm_layers.h"
#include "testing/index_family.h"

namespace cambium::testing {

// Sizes so small that a few hundred keys fill several levels.
[[nodiscard]] CompactionPolicy TinyPolicy(CompactionStyle style = kCompactionStyleLevel);

struct LsmFamilyOptions : IndexFamilyOptions {
  Codec compression = Codec::kNone;
  CompactionPolicy policy = TinyPolicy();
};

class LsmFamily final : public IndexFamily {
 public:
  explicit LsmFamily(const LsmFamilyOptions& options = {});

  Status CompactWhileDue(std::uint64_t step_bytes = kWholeStep);
  // Compacts the range by a request, as a user's CompactRange does.
  Status CompactRange(std::optional<std::string> begin, std::optional<std::string> end,
                      std::uint64_t step_bytes = kWholeStep);

  [[nodiscard]] const LsmLayers& layers() const { return static_cast<const LsmLayers&>(*layers_); }
  [[nodiscard]] std::shared_ptr<const LsmLayers> shared_layers() const {
    return std::static_pointer_cast<const LsmLayers>(layers_);
  }
  [[nodiscard]] LsmIndex& index() { return static_cast<LsmIndex&>(*index_); }
  [[nodiscard]] static std::string PathOf(std::uint64_t run) { return IndexFamily::PathOf(FileKind::kRun, run); }
  // Counts over all files, including entries that newer layers hide.
  [[nodiscard]] std::uint64_t entry_count() const;
  [[nodiscard]] std::uint64_t tombstone_count() const;
  [[nodiscard]] std::uint64_t range_delete_count() const;

 private:
  std::unique_ptr<Index> MakeIndex() override;
  Result<std::shared_ptr<const Layers>> OpenLayers(const OpenIndexFile& open_file) override;
  Status VisitEntries(const VisitEntry& visit) const override;
  Status CheckFiles() const override;

  const LsmFamilyOptions options_;
};

}  // namespace cambium::testing
