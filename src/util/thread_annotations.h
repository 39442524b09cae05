// Annotations that say which mutex guards what. Clang checks them while it compiles (-Wthread-safety, see the preset
// clang); other compilers ignore them. Use them with the types of util/mutex.h; std::mutex has none.
//
//   Mutex mutex_;
//   std::size_t count_ CAMBIUM_GUARDED_BY(mutex_) = 0;      // read and written with mutex_ held only
//   void AddLocked() CAMBIUM_REQUIRES(mutex_);              // the caller holds mutex_
//   void Add() CAMBIUM_EXCLUDES(mutex_);                    // takes mutex_ itself: the caller must not hold it
//
// Clang checks one function at a time, and believes the annotations of the functions that it calls. It does not check
// constructors and destructors. A lambda is a function of its own: annotate it as well,
//
//   std::erase_if(list_, [&](const Item& item) CAMBIUM_REQUIRES(mutex_) { return item.id < oldest_; });
#pragma once

#if defined(__clang__)
#define CAMBIUM_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define CAMBIUM_THREAD_ANNOTATION(x)
#endif

// ---- On classes ----

// A lock. `name` is what messages call it: "mutex".
#define CAMBIUM_CAPABILITY(name) CAMBIUM_THREAD_ANNOTATION(capability(name))
// An object that holds a lock for its lifetime.
#define CAMBIUM_SCOPED_CAPABILITY CAMBIUM_THREAD_ANNOTATION(scoped_lockable)

// ---- On data ----

// Accessed only with the mutex held. PT: the object that the pointer points to is guarded, the pointer itself is not.
#define CAMBIUM_GUARDED_BY(mutex) CAMBIUM_THREAD_ANNOTATION(guarded_by(mutex))
#define CAMBIUM_PT_GUARDED_BY(mutex) CAMBIUM_THREAD_ANNOTATION(pt_guarded_by(mutex))
// The order of locks, on the mutex itself: it is taken before, or after, these.
#define CAMBIUM_ACQUIRED_BEFORE(...) CAMBIUM_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define CAMBIUM_ACQUIRED_AFTER(...) CAMBIUM_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))

// ---- On functions ----

// The caller holds these, before and after the call. The function may release them and take them again.
#define CAMBIUM_REQUIRES(...) CAMBIUM_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
// The caller holds none of these: the function takes them, or waits for a thread that does.
#define CAMBIUM_EXCLUDES(...) CAMBIUM_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// The function returns with these held, or released. Without arguments: this object.
#define CAMBIUM_ACQUIRE(...) CAMBIUM_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define CAMBIUM_TRY_ACQUIRE(...) CAMBIUM_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define CAMBIUM_RELEASE(...) CAMBIUM_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
// After a call of the function, clang takes the mutex as held: for cases that its analysis cannot see.
#define CAMBIUM_ASSERT_CAPABILITY(mutex) CAMBIUM_THREAD_ANNOTATION(assert_capability(mutex))
// The function returns a reference to this mutex.
#define CAMBIUM_RETURN_CAPABILITY(mutex) CAMBIUM_THREAD_ANNOTATION(lock_returned(mutex))
// The body of the function is not checked, because of `reason`: a string literal, for the reader.
#define CAMBIUM_NO_THREAD_SAFETY_ANALYSIS(reason) CAMBIUM_THREAD_ANNOTATION(no_thread_safety_analysis)
