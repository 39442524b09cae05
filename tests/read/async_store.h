// For tests of asynchronous readers: a store with a reader, values of every kind, and coroutines that read.
#pragma once

#include <gtest/gtest.h>

#include <coroutine>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "cambium/async.h"
#include "testing/test_store.h"

namespace cambium::testing {

// How a read has ended. With `times`, a second call of a callback is found.
struct Ended {
  int times = 0;
  Status status;
  std::string value;
};

// Values that are inline, in the log, or in files of their own; one has more than 1 MiB.
inline std::string ValueAt(int i) {
  const std::size_t size = i % 50 == 7 ? 20'000 : i % 3 == 0 ? 10 : 100 + static_cast<std::size_t>(i) * 7 % 3000;
  return NumberedKey(i) + std::string(i == 57 ? 1'500'000 : size, static_cast<char>('a' + i % 26));
}

struct AsyncStore : TestStore {
  explicit AsyncStore(const SimOptions& sim = {}) : TestStore(sim) {}
  ~AsyncStore() { reader.reset(); }
  AsyncStore(const AsyncStore&) = delete;
  AsyncStore& operator=(const AsyncStore&) = delete;

  // Fills the store with values that are not in memory.
  void Fill(int count) {
    MustOpen();
    for (int i = 0; i < count; ++i) Put(NumberedKey(i), ValueAt(i));
    Compact();
    fs->SetResident(false);
  }
  void NewReader(const AsyncReaderOptions& with = {}) {
    const Status s = db->NewAsyncReader(with, &reader);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  AsyncReader::Callback Into(Ended* ended) {
    return [ended](const Status& status, Slice value) {
      ++ended->times;
      ended->status = status;
      ended->value = value.ToString();
    };
  }
  // Begins a read, which has room.
  void Begin(Slice key, Ended* ended, const ReadOptions& read = {}) {
    const Status s = reader->Get(read, key, Into(ended));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::unique_ptr<AsyncReader> reader;
};

inline void ExpectValue(const Ended& ended, const std::string& value) {
  EXPECT_EQ(ended.times, 1);
  EXPECT_TRUE(ended.status.ok()) << ended.status.ToString();
  EXPECT_EQ(ended.value, value);
}

// A coroutine that starts at once and destroys itself at its end. It counts exceptions.
struct Started {
  struct promise_type {
    static Started get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { ++exceptions; }
  };
  static inline int exceptions = 0;
};
// If unhandled_exception throws, clang destroys the coroutine as if it still waited, so its variables are destroyed a
// second time (LLVM issue 61900). Tests whose coroutines throw so do not run.
#ifdef __clang__
inline constexpr bool kCoroutinesMayThrow = false;
#else
inline constexpr bool kCoroutinesMayThrow = true;
#endif
inline constexpr const char* kCoroutinesMustNotThrow = "SKIPPED under clang: LLVM issue 61900";

// A coroutine that starts at once. Its owner destroys it. An exception leaves the call that has resumed the coroutine.
struct Owned {
  struct promise_type {
    Owned get_return_object() { return Owned{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    [[noreturn]] static void unhandled_exception() { throw; }
  };
  explicit Owned(std::coroutine_handle<promise_type> h) : handle(h) {}
  Owned(Owned&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Owned() {
    if (handle != nullptr) handle.destroy();
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;
  std::coroutine_handle<promise_type> handle;
};

inline Started ReadInto(AsyncReader* reader, std::string key, Ended* ended) {
  PinnableSlice value;
  value.PinSelf("old");
  const Status s = co_await reader->Get({}, key, &value);
  ++ended->times;
  ended->status = s;
  ended->value = value.ToString();
}
inline Owned ReadOwned(AsyncReader* reader, std::string key, Ended* ended) {
  PinnableSlice value;
  const Status s = co_await reader->Get({}, key, &value);
  ++ended->times;
  ended->status = s;
  ended->value = value.ToString();
}
inline Owned ReadAndThrow(AsyncReader* reader, std::string key) {
  PinnableSlice value;
  const Status s = co_await reader->Get({}, key, &value);
  throw std::runtime_error(s.ToString());
}

}  // namespace cambium::testing
