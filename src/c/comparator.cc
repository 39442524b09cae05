#include "c/wrappers.h"

using cambium::Slice;

namespace {

class CallingComparator final : public cambium::Comparator {
 public:
  using Compares = int (*)(void*, const char*, size_t, const char*, size_t);
  using Names = const char* (*)(void*);
  CallingComparator(const cambium_comparator_t* face, Compares compare, Names name)
      : face_(face), compare_(compare), name_(name) {}
  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    return compare_(face_->state, a.data(), a.size(), b.data(), b.size());
  }
  [[nodiscard]] const char* Name() const override { return name_(face_->state); }
  [[nodiscard]] bool EqualMeansSameBytes() const override { return face_->equal_means_same_bytes; }

 private:
  const cambium_comparator_t* const face_;
  const Compares compare_;
  const Names name_;
};

cambium_comparator_t* OfTheLibrary(const cambium::Comparator* comparator) {
  auto* const face = new cambium_comparator_t(nullptr, nullptr);
  face->rep = comparator;
  return face;
}

}  // namespace

cambium_comparator_t* cambium_comparator_create(void* state, void (*destructor)(void* state),
                                                int (*compare)(void* state, const char* a, size_t a_length,
                                                               const char* b, size_t b_length),
                                                const char* (*name)(void* state)) {
  auto face = std::make_unique<cambium_comparator_t>(state, destructor);
  face->own = std::make_unique<CallingComparator>(face.get(), compare, name);
  face->rep = face->own.get();
  return face.release();
}
cambium_comparator_t* cambium_comparator_create_bytewise() { return OfTheLibrary(cambium::BytewiseComparator()); }
cambium_comparator_t* cambium_comparator_create_reverse_bytewise() {
  return OfTheLibrary(cambium::ReverseBytewiseComparator());
}
void cambium_comparator_set_equal_means_same_bytes(cambium_comparator_t* comparator, unsigned char value) {
  comparator->equal_means_same_bytes = value != 0;
}
void cambium_comparator_destroy(cambium_comparator_t* comparator) { delete comparator; }
