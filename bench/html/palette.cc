#include "html/palette.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cambium::bench {
namespace {

constexpr std::array kNames = {
    "cambium/btree",     "cambium/lsm", "rocksdb_leveled", "rocksdb_universal", "rocksdb_blob",
    "rocksdb_blob_nogc", "lmdb",        "leveldb",         "wiredtiger",        "raw",
    "rocksdb11_leveled", "rocksdb11_blob", "rocksdb11_blob_direct"};
static_assert(kNames.size() <= kPaletteSize);

}  // namespace

Palette::Palette(const std::vector<std::string>& labels) {
  int next = static_cast<int>(kNames.size());
  for (const std::string& label : labels) {
    const auto* const named = std::find(kNames.begin(), kNames.end(), label);
    if (named != kNames.end()) {
      places_[label] = static_cast<int>(named - kNames.begin());
    } else if (!places_.contains(label)) {
      places_[label] = next;
      // Engines beyond the palette share the last place; their names tell them apart.
      next = std::min(next + 1, kPaletteSize - 1);
    }
  }
}

int Palette::PlaceOf(const std::string& label) const {
  const auto found = places_.find(label);
  return found == places_.end() ? kPaletteSize - 1 : found->second;
}

std::vector<std::string> InPaletteOrder(std::vector<std::string> labels) {
  std::stable_partition(labels.begin(), labels.end(),
                        [](const std::string& label) { return label.rfind("cambium", 0) == 0; });
  return labels;
}

}  // namespace cambium::bench
