// LiveSample: a sample of the separated values in the layers of a family. It estimates how many bytes of the layers are
// hidden by memtables, and how many a flush hides. For that it looks up the sampled keys in memtables, not in the
// layers.
//
// The chance of a value to be in the sample is proportional to its bytes, up to a certain size, the grain; larger
// values are always in it. So the error of an estimate depends only on the grain, and not on how the bytes are
// distributed over the keys: if a few keys have most bytes, all of these are in the sample. (A sample of evenly chosen
// keys might contain none of the few.) The error of an estimate of b bytes is about the root of b * grain. If the
// grain is b / 2048, the error is 2 per cent.
//
// The choice depends on a hash of the key, so a key whose value keeps its size stays in the sample, or out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cambium/slice.h"
#include "memtable/memtable.h"
#include "memtable/range_deletes.h"
#include "vlog/entry.h"

namespace cambium {

// Not thread-safe.
class LiveSample {
 public:
  // About this many values are sampled in the whole database.
  static constexpr std::uint64_t kValues = 2048;
  static constexpr std::uint64_t kGrainLeast = 4096;
  // Values with longer keys are left out, because the sample holds the keys.
  static constexpr std::size_t kKeyBytesMost = 1024;

  // The grain for a database with `live_bytes` bytes of separated values.
  [[nodiscard]] static std::uint64_t GrainFor(std::uint64_t live_bytes);

  // A sample of the newest versions in a memtable.
  struct Newest {
    struct Value {
      std::string key;
      std::uint64_t bytes = 0;
    };
    std::vector<Value> values;
    std::uint64_t grain = 0;
    bool is_whole = true;  // no value was left out because of its key
  };
  // The grain is at least `grain`. Visits each key, unless the memtable has no separated value. The memtable takes no
  // more writes.
  [[nodiscard]] static Newest Of(const MemTable& table, std::uint64_t grain);

  // Estimates: the bytes of all sampled values, and those of the ones that a memtable of `tables` replaces or deletes.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t BytesIn(std::span<const MemTable* const> tables) const;
  // The standard deviation of bytes(), estimated from the sample: 0 if all values are larger than the grain.
  [[nodiscard]] std::uint64_t Deviation() const;

  // The memtable has become a part of the layers. `newest` was made from it. Returns about how many bytes its entries
  // have replaced or deleted, without those that `ranges` cover (null: there are none).
  std::uint64_t Replace(const MemTable& table, const RangeDeletes* ranges, Newest newest);
  // The newest entry of the key in the layers is known: log GC has moved the value, or the layers were walked.
  void Note(Slice key, const Entry& entry, std::uint64_t grain);
  // Thins the sample out to this grain.
  void Coarsen(std::uint64_t grain);

  // True if the sample represents all values of the layers. Otherwise it says nothing about some of them: mostly values
  // that are older than this process and were not moved since.
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  void MarkPartial() { is_whole_ = false; }
  // Makes an empty sample, whole for empty layers.
  void Clear();

 private:
  struct Kept {
    std::uint64_t bytes = 0;   // the size of the value
    std::uint64_t weight = 0;  // the bytes for which it stands: its own, or the grain
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  using Values = std::unordered_map<std::string, Kept, KeyHash, std::equal_to<>>;
  void Erase(Values::iterator at);

  Values values_;
  std::uint64_t bytes_ = 0;  // the sum of all weights
  bool is_whole_ = true;
  mutable std::optional<std::uint64_t> deviation_;  // unset: not computed since the last change
};

}  // namespace cambium
