// TrackedKeys: the keys that a transaction tracks, by family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "cambium/types.h"
#include "state/family.h"

namespace cambium {

struct TrackedKey {
  // A write of the key by another writer after this operation is a conflict. kMaxSequenceNumber: not compared.
  SequenceNumber since = 0;
  std::uint32_t reads = 0;   // calls of GetForUpdate that tracked it
  std::uint32_t writes = 0;  // calls that write
  bool exclusive = false;
};

// One thread at a time.
class TrackedKeys {
 public:
  using Keys = std::unordered_map<std::string, TrackedKey>;
  struct OfFamily {
    std::shared_ptr<Family> family;
    Keys keys;
  };

  // The entry of the key, which is made if necessary.
  TrackedKey& Entry(const std::shared_ptr<Family>& family, const std::string& key) {
    OfFamily& its = families_[family->id];
    if (its.family == nullptr) its.family = family;
    return its.keys[key];
  }
  [[nodiscard]] TrackedKey* Find(std::uint32_t family, const std::string& key) {
    const auto its = families_.find(family);
    if (its == families_.end()) return nullptr;
    const auto found = its->second.keys.find(key);
    return found == its->second.keys.end() ? nullptr : &found->second;
  }
  void Erase(std::uint32_t family, const std::string& key) {
    const auto its = families_.find(family);
    if (its != families_.end()) its->second.keys.erase(key);
  }
  void Clear() { families_.clear(); }
  [[nodiscard]] bool empty() const { return count() == 0; }
  [[nodiscard]] std::size_t count() const {
    std::size_t count = 0;
    for (const auto& [id, its] : families_) count += its.keys.size();
    return count;
  }
  [[nodiscard]] const std::map<std::uint32_t, OfFamily>& families() const { return families_; }

 private:
  std::map<std::uint32_t, OfFamily> families_;  // by id
};

}  // namespace cambium
