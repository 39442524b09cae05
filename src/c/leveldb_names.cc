// Options of LevelDB that have another name or no counterpart here.
#include <exception>

#include "c/wrappers.h"

using cambium::Status;

struct cambium_filterpolicy_t {
  ~cambium_filterpolicy_t() {
    if (destructor != nullptr) destructor(state);
  }
  int bits_per_key = 0;
  bool is_own = true;  // made by cambium_filterpolicy_create_bloom
  void* state = nullptr;
  void (*destructor)(void*) = nullptr;
};

namespace {

void Hint(cambium_options_t* options, const char* name, bool is_set, const std::string& why) {
  options->hints.erase(name);
  if (is_set) options->hints[name] = why;
}

}  // namespace

void cambium::c::LogHints(const cambium_options_t& options, DB* db) noexcept {
  if (options.hints.empty()) return;
  try {
    const std::shared_ptr<Logger> logger = db->GetOptions().info_log;
    if (logger == nullptr) return;
    for (const auto& [name, why] : options.hints) {
      logger->Log(InfoLogLevel::kInfo, "the option " + name + " has no effect here: " + why);
    }
  } catch (const std::exception&) {  // the database is open, only without a line in LOG
  }
}

void cambium_options_set_block_size(cambium_options_t* options, size_t value) { options->rep.page_size = value; }
void cambium_options_set_max_file_size(cambium_options_t* options, size_t value) {
  options->rep.target_file_size_base = value;
}
void cambium_options_set_paranoid_checks(cambium_options_t* options, unsigned char value) {
  options->rep.wal_recovery_mode =
      value != 0 ? cambium::kTolerateCorruptedTailRecords : cambium::kPointInTimeRecovery;
}

void cambium_options_set_cache(cambium_options_t* options, cambium_cache_t* cache) {
  options->rep.page_cache_size = cache == nullptr ? cambium::Options().page_cache_size : cache->capacity;
}
cambium_cache_t* cambium_cache_create_lru(size_t capacity) { return new cambium_cache_t{capacity}; }
void cambium_cache_destroy(cambium_cache_t* cache) { delete cache; }

void cambium_options_set_filter_policy(cambium_options_t* options, cambium_filterpolicy_t* policy) {
  const bool is_own = policy == nullptr || policy->is_own;
  Hint(options, "filter_policy", !is_own, "it is the caller's own, and the library uses its own filters instead");
  if (!is_own) {
    options->rep.filter_bits_per_key = cambium::Options().filter_bits_per_key;
  } else {
    options->rep.filter_bits_per_key = policy == nullptr ? 0 : policy->bits_per_key;
  }
}
cambium_filterpolicy_t* cambium_filterpolicy_create_bloom(int bits_per_key) {
  auto* const policy = new cambium_filterpolicy_t;
  policy->bits_per_key = bits_per_key;
  return policy;
}
cambium_filterpolicy_t* cambium_filterpolicy_create(
    void* state, void (*destructor)(void* state),
    char* (*)(void* state, const char* const* keys, const size_t* key_lengths, int num_keys, size_t* filter_length),
    unsigned char (*)(void* state, const char* key, size_t key_length, const char* filter, size_t filter_length),
    const char* (*)(void* state)) {
  auto* const policy = new cambium_filterpolicy_t;
  policy->is_own = false;
  policy->state = state;
  policy->destructor = destructor;
  return policy;
}
void cambium_filterpolicy_destroy(cambium_filterpolicy_t* policy) { delete policy; }

void cambium_options_set_block_restart_interval(cambium_options_t* options, int value) {
  Hint(options, "block_restart_interval", value != 1, "every key of a page can be found directly");
}
