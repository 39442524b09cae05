#include "state/live_sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "util/checksum.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Usually GrainFor keeps the samples of all families together far below this.
constexpr std::size_t kValuesMost = 8 * LiveSample::kValues;
constexpr std::uint64_t kSampleSeed = 0x53d5a1e5c0ffee11u;

// Whether a value is in a sample with this grain: with a chance of bytes / grain.
bool IsChosen(Slice key, std::uint64_t bytes, std::uint64_t grain) {
  if (bytes >= grain) return true;
  const auto chance = static_cast<double>(Checksum64(key, kSampleSeed) >> 11) * 0x1p-53;
  return chance * static_cast<double>(grain) < static_cast<double>(bytes);
}

}  // namespace

std::uint64_t LiveSample::GrainFor(std::uint64_t live_bytes) { return std::max(kGrainLeast, live_bytes / kValues); }

LiveSample::Newest LiveSample::Of(const MemTable& table, std::uint64_t grain) {
  Newest newest;
  newest.grain = std::max(grain, GrainFor(table.newest_separated_bytes()));
  if (table.newest_separated_count() == 0) return newest;
  const std::unique_ptr<EntryCursor> cursor = table.NewCursor(kMaxSequenceNumber);
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    const Entry entry = cursor->entry();
    if (!entry.HasAddress()) continue;
    const Slice key = cursor->key();
    if (key.size() > kKeyBytesMost) {
      newest.is_whole = false;
    } else if (IsChosen(key, entry.address.size(), newest.grain)) {
      newest.values.push_back({key.ToString(), entry.address.size()});
    }
  }
  return newest;
}

std::uint64_t LiveSample::BytesIn(std::span<const MemTable* const> tables) const {
  std::uint64_t bytes = 0;
  for (const auto& [key, kept] : values_) {
    for (const MemTable* const table : tables) {
      Entry entry;
      if (!table->Find(key, kMaxSequenceNumber, &entry)) continue;
      bytes += kept.weight;
      break;
    }
  }
  return bytes;
}

std::uint64_t LiveSample::Deviation() const {
  if (deviation_.has_value()) return *deviation_;
  double variance = 0;
  for (const auto& [key, kept] : values_) {
    const auto weight = static_cast<double>(kept.weight);
    variance += weight * (weight - static_cast<double>(kept.bytes));
  }
  deviation_ = static_cast<std::uint64_t>(std::sqrt(variance));
  return *deviation_;
}

std::uint64_t LiveSample::Replace(const MemTable& table, const RangeDeletes* ranges, Newest newest) {
  std::uint64_t replaced = 0;
  for (auto at = values_.begin(); at != values_.end();) {
    const auto next = std::next(at);
    if (Entry entry; table.Find(at->first, kMaxSequenceNumber, &entry)) {
      if (ranges == nullptr || !ranges->StretchOf(at->first).covered) replaced += at->second.weight;
      Erase(at);
    }
    at = next;
  }
  for (Newest::Value& value : newest.values) {
    const Kept kept = {value.bytes, std::max(value.bytes, newest.grain)};
    if (values_.try_emplace(std::move(value.key), kept).second) bytes_ += kept.weight;
    deviation_.reset();
  }
  if (!newest.is_whole) is_whole_ = false;
  if (values_.size() > kValuesMost) Coarsen(GrainFor(bytes_));
  return replaced;
}

void LiveSample::Note(Slice key, const Entry& entry, std::uint64_t grain) {
  const auto at = values_.find(std::string_view(key.data(), key.size()));
  if (at != values_.end()) Erase(at);
  if (!entry.HasAddress()) return;
  if (key.size() > kKeyBytesMost) return MarkPartial();
  const std::uint64_t bytes = entry.address.size();
  if (!IsChosen(key, bytes, grain)) return;
  const Kept kept = {bytes, std::max(bytes, grain)};
  values_.emplace(key.ToString(), kept);
  deviation_.reset();
  bytes_ += kept.weight;
}

void LiveSample::Coarsen(std::uint64_t grain) {
  for (auto at = values_.begin(); at != values_.end();) {
    const auto next = std::next(at);
    if (at->second.weight < grain) {
      const Kept kept = {at->second.bytes, grain};
      if (IsChosen(at->first, kept.bytes, grain)) {
        bytes_ += kept.weight - at->second.weight;
        at->second = kept;
        deviation_.reset();
      } else {
        Erase(at);
      }
    }
    at = next;
  }
}

void LiveSample::Clear() {
  values_.clear();
  deviation_.reset();
  bytes_ = 0;
  is_whole_ = true;
}

void LiveSample::Erase(Values::iterator at) {
  assert(bytes_ >= at->second.weight);
  bytes_ -= at->second.weight;
  deviation_.reset();
  values_.erase(at);
}

}  // namespace cambium
