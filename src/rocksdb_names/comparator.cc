// The two comparators of the library, with RocksDB's names.
#include "cambium/rocksdb_names/rocksdb/comparator.h"

namespace rocksdb::inline on_cambium {

class BuiltInComparator final : public Comparator {
 public:
  BuiltInComparator(const cambium::Comparator* rep, const char* name) : Comparator(rep), name_(name) {}
  [[nodiscard]] const char* Name() const override { return name_; }
  [[nodiscard]] int Compare(const Slice& a, const Slice& b) const override { return OnCambium()->Compare(a, b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
  [[nodiscard]] bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }

 private:
  const char* const name_;
};

const Comparator* BytewiseComparator() {
  static const Comparator* const made =
      new BuiltInComparator(cambium::BytewiseComparator(), "leveldb.BytewiseComparator");
  return made;
}
const Comparator* ReverseBytewiseComparator() {
  static const Comparator* const made =
      new BuiltInComparator(cambium::ReverseBytewiseComparator(), "rocksdb.ReverseBytewiseComparator");
  return made;
}

}  // namespace rocksdb::inline on_cambium
