// Prepared: the data of a kernel, made once.
//
//   PageSet& pages = Prepared<PageSet>(state.range(0));
//
// Google Benchmark calls a kernel to estimate the number of iterations, again to measure it, and again for each
// repetition. Data that takes seconds to make is made by the first call. It lives until a kernel requests other data,
// so a kernel must have all its data in one object.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <typeinfo>

namespace cambium::bench {

// The one object that exists at a time.
struct PreparedThing {
  std::mutex mutex;  // the threads of a kernel request it concurrently
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
    prepared.Clear();  // before the next is made: two large objects may not fit into memory
    prepared.thing = std::make_shared<T>(arguments...);
    prepared.name = name;
  }
  return *static_cast<T*>(prepared.thing.get());
}

}  // namespace cambium::bench
