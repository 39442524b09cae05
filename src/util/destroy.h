// The end of an object whose class decides by a destroying operator delete whether it ends at all.
#pragma once

#include <cstddef>
#include <new>

namespace cambium {

// Runs the destructor of *object and gives its memory back as `new T` had taken it: where T needs more alignment than
// the plain operator new gives, it came from the other one, and allocators tell the two apart. T is the object's own
// class, not a base.
template <typename T>
void DestroyAndFree(T* object) {
  object->~T();
  if constexpr (alignof(T) > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    ::operator delete(static_cast<void*>(object), std::align_val_t{alignof(T)});
  } else {
    ::operator delete(static_cast<void*>(object));
  }
}

}  // namespace cambium
