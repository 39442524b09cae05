// Beginning and end of an object whose class decides by a destroying operator delete whether it ends at all.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace cambium {

// Memory as `new T` takes it, and back: where T needs more alignment than the plain operator new gives, it comes from the
// other one, and allocators tell the two apart.
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

// Makes a T as `new T` does, and gives the memory back if its constructor throws: a new-expression has no destroying
// operator delete called, so that of a class which has one would leave the memory behind. `construct` is told where, and
// returns what it constructed there.
template <typename T, typename Construct>
std::unique_ptr<T> AllocateAndMake(const Construct& construct) {
  std::unique_ptr<void, FreeFor<T>> memory(AllocateFor<T>());
  std::unique_ptr<T> made(construct(memory.get()));
  static_cast<void>(memory.release());
  return made;
}

// Runs the destructor of *object and gives its memory back as `new T` had taken it. T is the object's own class, not a
// base.
template <typename T>
void DestroyAndFree(T* object) {
  object->~T();
  FreeFor<T>()(static_cast<void*>(object));
}

}  // namespace cambium
