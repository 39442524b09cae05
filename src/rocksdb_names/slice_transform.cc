#include "cambium/rocksdb_names/rocksdb/slice_transform.h"

#include <algorithm>
#include <string>

namespace rocksdb::inline on_cambium {
namespace {

class LeadingBytes final : public SliceTransform {
 public:
  LeadingBytes(std::string name, std::size_t length, bool is_capped)
      : name_(std::move(name)), length_(length), is_capped_(is_capped) {}
  [[nodiscard]] const char* Name() const override { return name_.c_str(); }
  [[nodiscard]] Slice Transform(const Slice& key) const override { return key.substr(0, std::min(length_, key.size())); }
  [[nodiscard]] bool InDomain(const Slice& key) const override { return is_capped_ || key.size() >= length_; }
  bool FullLengthEnabled(std::size_t* length) const override {
    *length = length_;
    return true;
  }
  [[nodiscard]] bool SameResultWhenAppended(const Slice& prefix) const override { return prefix.size() >= length_; }

 private:
  const std::string name_;
  const std::size_t length_;
  const bool is_capped_;
};

class WholeKey final : public SliceTransform {
 public:
  [[nodiscard]] const char* Name() const override { return "rocksdb.Noop"; }
  [[nodiscard]] Slice Transform(const Slice& key) const override { return key; }
  [[nodiscard]] bool InDomain(const Slice& /*key*/) const override { return true; }
};

}  // namespace

const SliceTransform* NewFixedPrefixTransform(std::size_t length) {
  return new LeadingBytes("rocksdb.FixedPrefix." + std::to_string(length), length, false);
}
const SliceTransform* NewCappedPrefixTransform(std::size_t length) {
  return new LeadingBytes("rocksdb.CappedPrefix." + std::to_string(length), length, true);
}
const SliceTransform* NewNoopTransform() { return new WholeKey; }

}  // namespace rocksdb::inline on_cambium
