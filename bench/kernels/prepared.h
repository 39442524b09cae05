// Prepared: what a kernel works on, made once.
//
//   PageSet& pages = Prepared<PageSet>(state.range(0));
//
// Google Benchmark calls a kernel to guess how often it must run, again to measure it, and again for each repetition.
// What takes seconds to make is made by the first call, and lives until another kernel, or the same with other
// arguments, asks for something else. So a kernel asks for one thing, which has all that it needs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace cambium::bench {

// One thing at a time.
struct PreparedThing {
  std::mutex mutex;  // the threads of a kernel ask at once
  std::string name;  // of its type and arguments
  std::shared_ptr<void> thing;

  static PreparedThing& Instance() {
    static PreparedThing only;
    return only;
  }
  void Clear() {
    thing.reset();
    name.clear();
  }
};

template <typename T, typename... Arguments>
T& Prepared(Arguments... arguments) {
  static_assert(((std::is_integral_v<Arguments> || std::is_enum_v<Arguments>) && ...), "they make the name");
  std::string name = typeid(T).name();
  ((name += "/" + std::to_string(static_cast<std::int64_t>(arguments))), ...);
  PreparedThing& prepared = PreparedThing::Instance();
  const std::lock_guard lock(prepared.mutex);
  if (prepared.name != name) {
    prepared.Clear();  // before the next is made: two large ones may not fit
    prepared.thing = std::make_shared<T>(arguments...);
    prepared.name = name;
  }
  return *static_cast<T*>(prepared.thing.get());
}

}  // namespace cambium::bench
