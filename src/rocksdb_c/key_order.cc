// Comparators, prefixes of keys, and merge operators: functions of the caller.
#include <algorithm>

#include "rocksdb_c/objects.h"
#include "rocksdb_c/prefix.h"

using namespace cambium::rocks;
using cambium::Slice;

namespace {

class CallingComparator final : public cambium::Comparator {
 public:
  using Compares = int (*)(void*, const char*, size_t, const char*, size_t);
  using Names = const char* (*)(void*);
  CallingComparator(void* state, void (*destructor)(void*), Compares compare, Names name)
      : state_(state, destructor), compare_(compare), name_(name) {}
  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    return compare_(state_.state, a.data(), a.size(), b.data(), b.size());
  }
  [[nodiscard]] const char* Name() const override { return name_(state_.state); }
  // A caller of this interface cannot say whether equal keys have the same bytes, so they may have different ones.
  [[nodiscard]] bool EqualMeansSameBytes() const override { return false; }

 private:
  const RocksState state_;
  const Compares compare_;
  const Names name_;
};

class CallingPrefix final : public RocksPrefix {
 public:
  using Transforms = char* (*)(void*, const char*, size_t, size_t*);
  using Tests = unsigned char (*)(void*, const char*, size_t);
  CallingPrefix(void* state, void (*destructor)(void*), Transforms transform, Tests in_domain)
      : state_(state, destructor), transform_(transform), in_domain_(in_domain) {}
  [[nodiscard]] bool InDomain(Slice key) const override {
    return in_domain_(state_.state, key.data(), key.size()) != 0;
  }
  // The result is a part of the key, or memory of the caller's.
  [[nodiscard]] std::string Transform(Slice key) const override {
    size_t length = 0;
    const char* const prefix = transform_(state_.state, key.data(), key.size(), &length);
    return {prefix, length};
  }

 private:
  const RocksState state_;
  const Transforms transform_;
  const Tests in_domain_;
};

class FixedPrefix final : public RocksPrefix {
 public:
  explicit FixedPrefix(std::size_t length) : length_(length) {}
  [[nodiscard]] bool InDomain(Slice key) const override { return key.size() >= length_; }
  [[nodiscard]] std::string Transform(Slice key) const override { return {key.data(), std::min(length_, key.size())}; }

 private:
  const std::size_t length_;
};

class WholeKey final : public RocksPrefix {
 public:
  [[nodiscard]] bool InDomain(Slice /*key*/) const override { return true; }
  [[nodiscard]] std::string Transform(Slice key) const override { return key.ToString(); }
};

}  // namespace

extern "C" {

// ---- Comparators ----

rocksdb_comparator_t* rocksdb_comparator_create(void* state, void (*destructor)(void*),
                                                int (*compare)(void*, const char* a, size_t a_length, const char* b,
                                                               size_t b_length),
                                                const char* (*name)(void*)) {
  return new rocksdb_comparator_t{std::make_unique<CallingComparator>(state, destructor, compare, name)};
}
rocksdb_comparator_t* rocksdb_comparator_with_ts_create(
    void* state, void (*destructor)(void*),
    int (*compare)(void*, const char* a, size_t a_length, const char* b, size_t b_length),
    int (* /*compare_ts*/)(void*, const char* a, size_t a_length, const char* b, size_t b_length),
    int (* /*compare_without_ts*/)(void*, const char* a, size_t a_length, unsigned char a_has_ts, const char* b,
                                   size_t b_length, unsigned char b_has_ts),
    const char* (*name)(void*), size_t /*timestamp_size*/) {
  return new rocksdb_comparator_t{std::make_unique<CallingComparator>(state, destructor, compare, name), true};
}
void rocksdb_comparator_destroy(rocksdb_comparator_t* comparator) { delete comparator; }

// ---- Prefixes ----

rocksdb_slicetransform_t* rocksdb_slicetransform_create(
    void* state, void (*destructor)(void*),
    char* (*transform)(void*, const char* key, size_t length, size_t* prefix_length),
    unsigned char (*in_domain)(void*, const char* key, size_t length), const char* (* /*name*/)(void*)) {
  return new rocksdb_slicetransform_t{std::make_shared<CallingPrefix>(state, destructor, transform, in_domain)};
}
rocksdb_slicetransform_t* rocksdb_slicetransform_create_fixed_prefix(size_t length) {
  return new rocksdb_slicetransform_t{std::make_shared<FixedPrefix>(length)};
}
rocksdb_slicetransform_t* rocksdb_slicetransform_create_noop() {
  return new rocksdb_slicetransform_t{std::make_shared<WholeKey>()};
}
void rocksdb_slicetransform_destroy(rocksdb_slicetransform_t* transform) { delete transform; }

// ---- Merge operators: kept, and never called, because Merge is not in this version ----

rocksdb_mergeoperator_t* rocksdb_mergeoperator_create(
    void* state, void (*destructor)(void*),
    char* (* /*full_merge*/)(void*, const char* key, size_t key_length, const char* existing_value,
                             size_t existing_value_length, const char* const* operands, const size_t* operand_lengths,
                             int operand_count, unsigned char* success, size_t* new_value_length),
    char* (* /*partial_merge*/)(void*, const char* key, size_t key_length, const char* const* operands,
                                const size_t* operand_lengths, int operand_count, unsigned char* success,
                                size_t* new_value_length),
    void (* /*delete_value*/)(void*, const char* value, size_t value_length), const char* (* /*name*/)(void*)) {
  return new rocksdb_mergeoperator_t{std::make_shared<RocksState>(state, destructor)};
}
void rocksdb_mergeoperator_destroy(rocksdb_mergeoperator_t* merge_operator) { delete merge_operator; }

}  // extern "C"
