// Compaction filters and their factories.
#include "c/wrappers.h"

using cambium::CompactionFilter;
using cambium::Slice;
using cambium::c::ToEnum;
using cambium::c::Truth;

struct cambium_compactionfilteranswer_t {
  std::string* new_value;
  std::string* skip_until;
};

struct cambium_compactionfiltercontext_t {
  const CompactionFilter::Context& rep;
};

namespace {

// The state of a callback, with its destructor.
class State {
 public:
  State(void* state, void (*destructor)(void*)) : state_(state), destructor_(destructor) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (destructor_ != nullptr) destructor_(state_);
  }
  [[nodiscard]] void* get() const { return state_; }

 private:
  void* const state_;
  void (*const destructor_)(void*);
};

using Names = const char* (*)(void*);
using RocksFilter = unsigned char (*)(void*, int, const char*, size_t, const char*, size_t, char**, size_t*,
                                      unsigned char*);
using ByKey = int (*)(void*, int, const char*, size_t, cambium_compactionfilteranswer_t*);
using ByValue = int (*)(void*, int, const char*, size_t, const char*, size_t, cambium_compactionfilteranswer_t*);

class CallingFilter : public CompactionFilter {
 public:
  CallingFilter(void* state, void (*destructor)(void*), Names name) : state_(state, destructor), name_(name) {}
  [[nodiscard]] const char* Name() const override { return name_(state_.get()); }
  [[nodiscard]] bool IgnoreSnapshots() const override { return ignores_snapshots_; }
  void set_ignores_snapshots(bool ignores) { ignores_snapshots_ = ignores; }

 protected:
  const State state_;

 private:
  const Names name_;
  bool ignores_snapshots_ = true;
};

class SimpleFilter final : public CallingFilter {
 public:
  SimpleFilter(void* state, void (*destructor)(void*), RocksFilter filter, Names name)
      : CallingFilter(state, destructor, name), filter_(filter) {}
  bool Filter(int level, const Slice& key, const Slice& value, std::string* new_value,
              bool* value_changed) const override {
    char* changed = nullptr;
    size_t changed_length = 0;
    unsigned char is_changed = 0;
    const unsigned char goes = filter_(state_.get(), level, key.data(), key.size(), value.data(), value.size(),
                                       &changed, &changed_length, &is_changed);
    *value_changed = is_changed != 0;
    if (*value_changed && changed_length != 0) new_value->assign(changed, changed_length);
    return goes != 0;
  }

 private:
  const RocksFilter filter_;
};

class WholeFilter final : public CallingFilter {
 public:
  WholeFilter(void* state, void (*destructor)(void*), ByKey by_key, ByValue by_value, Names name)
      : CallingFilter(state, destructor, name), by_key_(by_key), by_value_(by_value) {}
  Decision FilterBlobByKey(int level, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override {
    if (by_key_ == nullptr) return Decision::kUndetermined;
    cambium_compactionfilteranswer_t answer{new_value, skip_until};
    return ToEnum<Decision>(by_key_(state_.get(), level, key.data(), key.size(), &answer));
  }
  Decision FilterV2(int level, const Slice& key, ValueType /*type*/, const Slice& value, std::string* new_value,
                    std::string* skip_until) const override {
    cambium_compactionfilteranswer_t answer{new_value, skip_until};
    return ToEnum<Decision>(
        by_value_(state_.get(), level, key.data(), key.size(), value.data(), value.size(), &answer));
  }

 private:
  const ByKey by_key_;
  const ByValue by_value_;
};

class CallingFactory final : public cambium::CompactionFilterFactory {
 public:
  using Creates = cambium_compactionfilter_t* (*)(void*, cambium_compactionfiltercontext_t*);
  CallingFactory(void* state, void (*destructor)(void*), Creates create, Names name)
      : state_(state, destructor), create_(create), name_(name) {}
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) override {
    cambium_compactionfiltercontext_t told{context};
    const std::unique_ptr<cambium_compactionfilter_t> made(create_(state_.get(), &told));
    return made == nullptr ? nullptr : std::move(made->rep);
  }
  [[nodiscard]] const char* Name() const override { return name_(state_.get()); }

 private:
  const State state_;
  const Creates create_;
  const Names name_;
};

}  // namespace

cambium_compactionfilter_t* cambium_compactionfilter_create(
    void* state, void (*destructor)(void* state),
    unsigned char (*filter)(void* state, int level, const char* key, size_t key_length, const char* existing_value,
                            size_t value_length, char** new_value, size_t* new_value_length,
                            unsigned char* value_changed),
    const char* (*name)(void* state)) {
  return new cambium_compactionfilter_t{std::make_unique<SimpleFilter>(state, destructor, filter, name)};
}

cambium_compactionfilter_t* cambium_compactionfilter_create_v2(
    void* state, void (*destructor)(void* state),
    int (*filter_blob_by_key)(void* state, int level, const char* key, size_t key_length,
                              cambium_compactionfilteranswer_t* answer),
    int (*filter)(void* state, int level, const char* key, size_t key_length, const char* existing_value,
                  size_t value_length, cambium_compactionfilteranswer_t* answer),
    const char* (*name)(void* state)) {
  return new cambium_compactionfilter_t{
      std::make_unique<WholeFilter>(state, destructor, filter_blob_by_key, filter, name)};
}

void cambium_compactionfilteranswer_set_value(cambium_compactionfilteranswer_t* answer, const char* value,
                                              size_t value_length) {
  answer->new_value->clear();
  if (value_length != 0) answer->new_value->assign(value, value_length);
}
void cambium_compactionfilteranswer_skip_until(cambium_compactionfilteranswer_t* answer, const char* key,
                                               size_t key_length) {
  answer->skip_until->clear();
  if (key_length != 0) answer->skip_until->assign(key, key_length);
}

void cambium_compactionfilter_set_ignore_snapshots(cambium_compactionfilter_t* filter, unsigned char value) {
  static_cast<CallingFilter&>(*filter->rep).set_ignores_snapshots(value != 0);  // this file makes all of them
}
void cambium_compactionfilter_destroy(cambium_compactionfilter_t* filter) { delete filter; }

cambium_compactionfilterfactory_t* cambium_compactionfilterfactory_create(
    void* state, void (*destructor)(void* state),
    cambium_compactionfilter_t* (*create)(void* state, cambium_compactionfiltercontext_t* context),
    const char* (*name)(void* state)) {
  return new cambium_compactionfilterfactory_t{std::make_shared<CallingFactory>(state, destructor, create, name)};
}
void cambium_compactionfilterfactory_destroy(cambium_compactionfilterfactory_t* factory) { delete factory; }

unsigned char cambium_compactionfiltercontext_is_full_compaction(const cambium_compactionfiltercontext_t* context) {
  return Truth(context->rep.is_full_compaction);
}
unsigned char cambium_compactionfiltercontext_is_manual_compaction(const cambium_compactionfiltercontext_t* context) {
  return Truth(context->rep.is_manual_compaction);
}
uint32_t cambium_compactionfiltercontext_column_family_id(const cambium_compactionfiltercontext_t* context) {
  return context->rep.column_family_id;
}
