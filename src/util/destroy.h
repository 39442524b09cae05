// Helpers to create and destroy objects of classes with a destroying operator delete, which may decide not to destroy.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace cambium {

// Allocate and free memory exactly as `new T` and `delete` would. If T needs more alignment than plain operator new
// gives, both use the aligned operators: an allocator need not accept memory of one kind in the other kind's operator.
template <typename T>
void* AllocateFor() {
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    return ::operator new(sizeof(T), std::align_val_t{alignof(T)});
  } else {
    return ::operator new(sizeof(T));
  }
}
template <typename T>
struct FreeFor {
  void operator()(void* memory) const noexcept {
    if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(memory, std::align_val_t{alignof(T)});
    } else {
      ::operator delete(memory);
    }
  }
};

// Creates a T as `new T` does, and frees the memory if the constructor throws. (A new-expression does not call a
// destroying operator delete, so it would leak the memory of such a class.) `construct` receives the memory and returns
// the object that it constructed there.
template <typename T, typename Construct>
std::unique_ptr<T> AllocateAndMake(const Construct& construct) {
  std::unique_ptr<void, FreeFor<T>> memory(AllocateFor<T>());
  std::unique_ptr<T> made(construct(memory.get()));
  static_cast<void>(memory.release());
  return made;
}

// Runs the destructor of *object and frees its memory, which `new T` or AllocateAndMake allocated. T is the object's
// own class, not a base class.
template <typename T>
void DestroyAndFree(T* object) {
  object->~T();
  FreeFor<T>()(static_cast<void*>(object));
}

}  // namespace cambium
