#include "callbacks.h"

namespace cambium_node {

namespace {

// The answer of a JavaScript function: a decision, and bytes for some of them.
struct Answer {
  int decision = cambium_filter_keep;
  std::string bytes;
};

// lib/callbacks.js returns a number, or [number, bytes].
Answer ToAnswer(napi_env env, napi_value value) {
  Answer answer;
  bool is_array = false;
  Check(env, napi_is_array(env, value, &is_array));
  napi_value decision = value;
  if (is_array) {
    napi_value bytes = nullptr;
    Check(env, napi_get_element(env, value, 0, &decision));
    Check(env, napi_get_element(env, value, 1, &bytes));
    answer.bytes = Bytes(env, bytes, "the answer of the filter").Copy();
  }
  answer.decision = static_cast<int>(ToNumber(env, decision, "the answer of the filter"));
  return answer;
}

int Give(const Answer& answer, cambium_compactionfilteranswer_t* to) {
  if (answer.decision == cambium_filter_change_value) {
    cambium_compactionfilteranswer_set_value(to, answer.bytes.data(), answer.bytes.size());
  } else if (answer.decision == cambium_filter_remove_and_skip_until) {
    cambium_compactionfilteranswer_skip_until(to, answer.bytes.data(), answer.bytes.size());
  }
  return answer.decision;
}

// Asks the function about a key and, unless it is null, a value. If it cannot be asked, the entry is kept.
Answer Ask(JsFunction& function, int level, const char* key, std::size_t key_length, const char* value,
           std::size_t value_length, bool has_value) {
  Answer answer;
  const bool is_answered = function.Call([&](napi_env env, napi_value its_function) {
    napi_value receiver = Undefined(env);
    napi_value arguments[] = {FromBytes(env, key, key_length, false), FromNumber(env, level),
                              has_value ? FromBytes(env, value, value_length, false) : Undefined(env)};
    napi_value result = nullptr;
    Check(env, napi_call_function(env, receiver, its_function, 3, arguments, &result));
    answer = ToAnswer(env, result);
  });
  return is_answered ? answer : Answer();
}

}  // namespace

CompactionFilter::CompactionFilter(napi_env env, std::string name, napi_value filter_key, napi_value filter)
    : name_(std::move(name)), filter_function_(env, filter, "filter.filter") {
  if (!IsNothing(env, filter_key)) {
    filter_key_function_ = std::make_unique<JsFunction>(env, filter_key, "filter.filterKey");
  }
  const auto by_key = [](void* state, int level, const char* key, std::size_t key_length,
                         cambium_compactionfilteranswer_t* answer) {
    auto& self = *static_cast<CompactionFilter*>(state);
    return Give(Ask(*self.filter_key_function_, level, key, key_length, nullptr, 0, false), answer);
  };
  filter_ = cambium_compactionfilter_create_v2(
      this, nullptr, filter_key_function_ == nullptr ? nullptr : +by_key,
      [](void* state, int level, const char* key, std::size_t key_length, const char* value, std::size_t value_length,
         cambium_compactionfilteranswer_t* answer) {
        auto& self = *static_cast<CompactionFilter*>(state);
        return Give(Ask(self.filter_function_, level, key, key_length, value, value_length, true), answer);
      },
      [](void* state) { return static_cast<CompactionFilter*>(state)->name_.c_str(); });
}

}  // namespace cambium_node
