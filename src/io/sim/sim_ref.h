// SimRef: a reference-counted pointer with copy on write: an owner that changes a shared object gets its own copy.
// Snapshots of the simulated disk share everything, and a crash image costs only what it changes.
//
// Not std::shared_ptr: use_count() does not order the other owner's release of the object before our next write, so
// images used by several threads would race. Edit() reads the count with acquire.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <utility>

namespace cambium {

// The base class of objects that a SimRef points to. A copy starts without owners.
struct SimShared {
  SimShared() = default;
  SimShared(const SimShared&) {}
  SimShared& operator=(const SimShared&) = delete;

  mutable std::atomic<std::uint32_t> references{0};
};

// Different threads may use different SimRefs to one object. Only one thread at a time may use one SimRef.
template <typename T>
class SimRef {
 public:
  SimRef() = default;
  explicit SimRef(T* object) : object_(object) { Retain(); }
  SimRef(const SimRef& other) : object_(other.object_) { Retain(); }
  SimRef(SimRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  SimRef& operator=(SimRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~SimRef() {
    if (object_ != nullptr && object_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object_;
  }

  explicit operator bool() const { return object_ != nullptr; }
  const T& operator*() const { return *object_; }
  const T* operator->() const { return object_; }
  [[nodiscard]] bool SameAs(const SimRef& other) const { return object_ == other.object_; }

  // Returns the object for changing. If it is shared, copies it first.
  T& Edit() {
    assert(object_ != nullptr);
    if (object_->references.load(std::memory_order_acquire) != 1) *this = SimRef(new T(*object_));
    return *object_;
  }

 private:
  void Retain() {
    if (object_ != nullptr) object_->references.fetch_add(1, std::memory_order_relaxed);
  }

  T* object_ = nullptr;
};

}  // namespace cambium
