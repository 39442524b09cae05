#include "lsm_family.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cambium::testing {

CompactionPolicy TinyPolicy(CompactionStyle style) {
  CompactionPolicy policy;
  policy.style = style;
  policy.target_file_size_base = 4096;
  policy.max_bytes_for_level_base = 16 * 1024;
  policy.max_bytes_for_level_multiplier = 4;
  return policy;
}

LsmFamily::LsmFamily(const LsmFamilyOptions& options) : IndexFamily(options, IndexType::kLsm), options_(options) {
  Start();
}

std::unique_ptr<Index> LsmFamily::MakeIndex() {
  LsmIndexOptions options;
  options.comparator = comparator();
  options.pool = &pool();
  options.page_size = options_.page_size;
  options.compression = options_.compression;
  options.policy = options_.policy;
  options.create_file = [this] { return CreateFile(FileKind::kRun); };
  return std::make_unique<LsmIndex>(std::move(options));
}

Result<std::shared_ptr<const Layers>> LsmFamily::OpenLayers(const OpenIndexFile& open_file) {
  CAMBIUM_TRY(std::shared_ptr<const LsmLayers> layers, LsmLayers::Open(state(), comparator(), &pool(), open_file));
  return std::shared_ptr<const Layers>(std::move(layers));
}

Status LsmFamily::CompactWhileDue(std::uint64_t step_bytes) {
  for (int steps = 0; index_->IsCompactionDue(*layers_, false); ++steps) {
    if (steps == 10'000) return Wrong("compactions do not end");
    CAMBIUM_RETURN_IF_ERROR(Step(step_bytes));
  }
  return Status::OK();
}

Status LsmFamily::CompactRange(std::optional<std::string> begin, std::optional<std::string> end,
                               std::uint64_t step_bytes) {
  CompactionRequest request = NewRequest();
  request.begin = std::move(begin);
  request.end = std::move(end);
  for (int steps = 0; index_->IsCompactionDue(*layers_, &request); ++steps) {
    if (steps == 10'000) return Wrong("a request does not end");
    CAMBIUM_RETURN_IF_ERROR(Step(step_bytes, &request));
  }
  return Status::OK();
}

std::uint64_t LsmFamily::entry_count() const {
  const LayersShape shape = layers_->shape();
  return shape.run_keys + shape.base_keys;
}

std::uint64_t LsmFamily::tombstone_count() const {
  const LayersShape shape = layers_->shape();
  std::uint64_t count = shape.run_tombstones;
  for (const LevelShape& level : shape.levels) count += level.tombstones;
  return count;
}

std::uint64_t LsmFamily::range_delete_count() const {
  const LayersShape shape = layers_->shape();
  std::uint64_t count = shape.run_range_deletes;
  for (const LevelShape& level : shape.levels) count += level.range_deletes;
  return count;
}

Status LsmFamily::VisitEntries(const VisitEntry& visit) const {
  const auto visit_run = [&visit](const Run& run) -> Status {
    const std::unique_ptr<EntryCursor> cursor = run.NewCursor();
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      CAMBIUM_RETURN_IF_ERROR(visit(cursor->key(), cursor->entry()));
    }
    return cursor->status();
  };
  for (const auto& run : layers().runs()) CAMBIUM_RETURN_IF_ERROR(visit_run(*run));
  for (const auto& tier : layers().tiers()) {
    for (const auto& run : tier->runs()) CAMBIUM_RETURN_IF_ERROR(visit_run(*run));
  }
  return Status::OK();
}

Status LsmFamily::CheckFiles() const {
  const auto same = [](const std::shared_ptr<const Run>& run, const RunInfo& info) { return run->info() == info; };
  if (!std::ranges::equal(layers().runs(), state().runs, same)) return Wrong("runs of the layers");
  LevelRuns placed;
  for (std::size_t i = 0; i < layers().tiers().size(); ++i) {
    const Tier& tier = *layers().tiers()[i];
    if (tier.runs().empty()) return Wrong("a tier without runs");
    for (const auto& run : tier.runs()) placed.Set({run->number(), {run->info(), tier.level(), tier.number()}});
    if (i == 0) continue;
    const Tier& newer = *layers().tiers()[i - 1];
    if (newer.level() > tier.level() || (newer.level() == tier.level() && newer.number() <= tier.number())) {
      return Wrong("order of tiers");
    }
  }
  return placed == state().level_runs ? Status::OK() : Wrong("levels of the layers");
}

}  // namespace cambium::testing
