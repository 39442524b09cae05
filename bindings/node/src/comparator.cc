#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "callbacks.h"

namespace cambium_node {

Comparator::Comparator(napi_env env, std::string name, napi_value compare)
    : name_(std::move(name)),
      compare_(env, compare, "comparator.compare"),
      comparator_(cambium_comparator_create(this, nullptr, &Comparator::Compare, [](void* state) {
        return static_cast<Comparator*>(state)->name_.c_str();
      })) {
  // JavaScript decides which keys are equal, so the library must not assume that their bytes are.
  cambium_comparator_set_equal_means_same_bytes(comparator_, 0);
}

int Comparator::Compare(void* state, const char* a, std::size_t a_length, const char* b, std::size_t b_length) {
  auto& self = *static_cast<Comparator*>(state);
  if (self.compare_.IsOnItsThread()) {
    std::fputs("cambium: keys are to be compared on the thread of JavaScript, which waits for the comparison\n",
               stderr);
    std::abort();
  }
  int result = 0;
  const bool has_answered = self.compare_.Call([&](napi_env env, napi_value function) {
    napi_value receiver = Undefined(env);
    napi_value keys[] = {FromBytes(env, a, a_length, false), FromBytes(env, b, b_length, false)};
    napi_value answer = nullptr;
    Check(env, napi_call_function(env, receiver, function, 2, keys, &answer));
    // lib/callbacks.js returns -1, 0 or 1, or ends the process.
    result = static_cast<int>(ToNumber(env, answer, "the result of the comparator"));
  });
  // JavaScript has ended. No answer would be right, and a wrong one would damage the order of the keys: this thread
  // waits until the process ends.
  while (!has_answered) pause();
  return result;
}

}  // namespace cambium_node
