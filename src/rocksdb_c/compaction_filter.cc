// Compaction filters and their factories.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::CompactionFilter;
using cambium::Slice;

struct rocksdb_compactionfiltercontext_t {
  const CompactionFilter::Context& rep;
};

namespace {

using Names = const char* (*)(void*);
using Filters = unsigned char (*)(void*, int, const char*, size_t, const char*, size_t, char**, size_t*,
                                  unsigned char*);

class CallingFilter final : public CompactionFilter {
 public:
  CallingFilter(void* state, void (*destructor)(void*), Filters filter, Names name)
      : state_(state, destructor), filter_(filter), name_(name) {}
  bool Filter(int level, const Slice& key, const Slice& value, std::string* new_value,
              bool* value_changed) const override {
    char* changed = nullptr;
    size_t changed_length = 0;
    unsigned char is_changed = 0;
    const unsigned char goes = filter_(state_.state, level, key.data(), key.size(), value.data(), value.size(),
                                       &changed, &changed_length, &is_changed);
    *value_changed = is_changed != 0;
    if (*value_changed && changed_length != 0) new_value->assign(changed, changed_length);
    return goes != 0;
  }
  [[nodiscard]] const char* Name() const override { return name_(state_.state); }
  [[nodiscard]] bool IgnoreSnapshots() const override { return ignores_snapshots_; }
  void set_ignores_snapshots(bool ignores) { ignores_snapshots_ = ignores; }

 private:
  const RocksState state_;
  const Filters filter_;
  const Names name_;
  bool ignores_snapshots_ = true;
};

class CallingFactory final : public cambium::CompactionFilterFactory {
 public:
  using Creates = rocksdb_compactionfilter_t* (*)(void*, rocksdb_compactionfiltercontext_t*);
  CallingFactory(void* state, void (*destructor)(void*), Creates create, Names name)
      : state_(state, destructor), create_(create), name_(name) {}
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) override {
    rocksdb_compactionfiltercontext_t told{context};
    const std::unique_ptr<rocksdb_compactionfilter_t> made(create_(state_.state, &told));
    return made == nullptr ? nullptr : std::move(made->rep);
  }
  [[nodiscard]] const char* Name() const override { return name_(state_.state); }

 private:
  const RocksState state_;
  const Creates create_;
  const Names name_;
};

}  // namespace

extern "C" {

rocksdb_compactionfilter_t* rocksdb_compactionfilter_create(
    void* state, void (*destructor)(void*),
    unsigned char (*filter)(void*, int level, const char* key, size_t key_length, const char* existing_value,
                            size_t value_length, char** new_value, size_t* new_value_length,
                            unsigned char* value_changed),
    const char* (*name)(void*)) {
  return new rocksdb_compactionfilter_t{std::make_unique<CallingFilter>(state, destructor, filter, name)};
}
void rocksdb_compactionfilter_set_ignore_snapshots(rocksdb_compactionfilter_t* filter, unsigned char ignores) {
  static_cast<CallingFilter&>(*filter->rep).set_ignores_snapshots(ignores != 0);  // this file makes all of them
}
void rocksdb_compactionfilter_destroy(rocksdb_compactionfilter_t* filter) { delete filter; }

rocksdb_compactionfilterfactory_t* rocksdb_compactionfilterfactory_create(
    void* state, void (*destructor)(void*),
    rocksdb_compactionfilter_t* (*create)(void*, rocksdb_compactionfiltercontext_t* context),
    const char* (*name)(void*)) {
  return new rocksdb_compactionfilterfactory_t{std::make_shared<CallingFactory>(state, destructor, create, name)};
}
void rocksdb_compactionfilterfactory_destroy(rocksdb_compactionfilterfactory_t* factory) { delete factory; }

unsigned char rocksdb_compactionfiltercontext_is_full_compaction(rocksdb_compactionfiltercontext_t* context) {
  return Truth(context->rep.is_full_compaction);
}
unsigned char rocksdb_compactionfiltercontext_is_manual_compaction(rocksdb_compactionfiltercontext_t* context) {
  return Truth(context->rep.is_manual_compaction);
}

}  // extern "C"
