// Every option of the table has a setter and a getter in C, of its own type, that set and get it and nothing else.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "options/option_table.h"
#include "c/wrappers.h"

namespace cambium {
namespace {

// Options that have a shorter name in C, as in RocksDB's C interface.
const std::map<std::string, std::string> kShorter = {
    {"enable_blob_garbage_collection", "enable_blob_gc"},
    {"blob_garbage_collection_age_cutoff", "blob_gc_age_cutoff"},
    {"blob_garbage_collection_force_threshold", "blob_gc_force_threshold"}};

// Options that are objects, with the function that sets them. Two have none; docs/C_API.md says why.
const std::map<std::string, std::string> kObjects = {
    {"comparator", "cambium_options_set_comparator"},
    {"compaction_filter", "cambium_options_set_compaction_filter"},
    {"compaction_filter_factory", "cambium_options_set_compaction_filter_factory"},
    {"rate_limiter", "cambium_options_set_ratelimiter"},
    {"write_buffer_manager", "cambium_options_set_write_buffer_manager"},
    {"file_system", "cambium_options_set_env"},
    {"clock", "cambium_options_set_env"},
    {"info_log", "cambium_options_set_info_log"},
    {"statistics", "cambium_options_enable_statistics"},
    {"random_source", ""},
    {"executor", ""},
    {"listeners", "cambium_options_add_eventlistener"}};

template <typename Function>
Function Find(const std::string& name) {
  void* const found = ::dlsym(RTLD_DEFAULT, name.c_str());
  EXPECT_NE(found, nullptr) << "c.h has no " << name;
  return reinterpret_cast<Function>(found);
}

template <typename Struct>
std::string TextOf(const Struct& options) {
  std::string text;
  for (const OptionField<Struct>& field : OptionFields<Struct>()) text += FormatOption(field, options) + ";";
  return text;
}

// `In` is the C type of a `Value`.
template <typename Value, typename In, typename Struct>
void CheckSetAndGet(const std::string& name, Value Struct::*member) {
  const auto set = Find<void (*)(cambium_options_t*, In)>("cambium_options_set_" + name);
  const auto get = Find<In (*)(const cambium_options_t*)>("cambium_options_get_" + name);
  if (set == nullptr || get == nullptr) return;
  for (const int n : {1, 0, 2}) {
    const auto value = static_cast<Value>(n);
    cambium_options_t options{Options()};
    cambium_options_t expected{Options()};
    expected.rep.*member = value;
    set(&options, static_cast<In>(n));
    EXPECT_EQ(options.rep.*member, value) << name;
    EXPECT_EQ(get(&options), static_cast<In>(value)) << name;
    EXPECT_EQ(TextOf<DBOptions>(options.rep), TextOf<DBOptions>(expected.rep)) << name << " sets something else too";
    EXPECT_EQ(TextOf<ColumnFamilyOptions>(options.rep), TextOf<ColumnFamilyOptions>(expected.rep)) << name;
  }
}

template <typename Struct>
void CheckAll(std::set<std::string>* objects) {
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    const auto shorter = kShorter.find(field.name);
    const std::string name = shorter == kShorter.end() ? field.name : shorter->second;
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), NoText>) {
            objects->insert(field.name);
          } else {
            using Value = std::remove_reference_t<decltype(std::declval<Struct&>().*member)>;
            if constexpr (std::is_pointer_v<Value>) {
              objects->insert(field.name);
            } else if constexpr (std::is_same_v<Value, bool>) {
              CheckSetAndGet<Value, unsigned char>(name, member);
            } else if constexpr (std::is_enum_v<Value>) {
              CheckSetAndGet<Value, int>(name, member);
            } else {
              CheckSetAndGet<Value, Value>(name, member);
            }
          }
        },
        field.member);
  }
}

TEST(COptionsTest, EachOptionHasASetterAndAGetter) {
  std::set<std::string> objects;
  CheckAll<DBOptions>(&objects);
  CheckAll<ColumnFamilyOptions>(&objects);
  // A static link includes only functions that are referenced.
  [[maybe_unused]] void (*volatile linked)(cambium_options_t*, cambium_eventlistener_t*) =
      &cambium_options_add_eventlistener;
  std::ifstream in(CAMBIUM_C_DOCUMENT);
  const std::string document{std::istreambuf_iterator<char>(in), {}};
  for (const std::string& name : objects) {
    const auto known = kObjects.find(name);
    ASSERT_NE(known, kObjects.end()) << "nothing in C sets " << name;
    if (known->second.empty()) {
      EXPECT_NE(document.find("`" + name + "`"), std::string::npos) << "C_API.md does not say why nothing sets " << name;
    } else {
      Find<void*>(known->second);
    }
  }
  EXPECT_EQ(objects.size(), kObjects.size());
  const cambium_options_t options{Options()};
  EXPECT_EQ(cambium_options_get_statistics_level(&options), 0);
}

// In C enumerators are numbers. A number that does not fit into a byte must not become another enumerator.
TEST(COptionsTest, NumbersWithoutAnEnumeratorAreRejected) {
  for (const int number : {-1, 255, 256, 257, 1 << 20}) {
    cambium_options_t options{Options()};
    cambium_options_set_compression(&options, number);
    cambium_options_set_index_type(&options, cambium_lsm_index);
    char* error = nullptr;
    EXPECT_EQ(cambium_open(&options, "/nowhere/at/all", &error), nullptr);
    ASSERT_NE(error, nullptr);
    EXPECT_NE(std::string(error).find("compression is 255"), std::string::npos) << error;
    cambium_free(error);
  }
}

// The constants of the header equal the enumerators.
static_assert(cambium_tolerate_corrupted_tail_records_recovery == static_cast<int>(kTolerateCorruptedTailRecords));
static_assert(cambium_absolute_consistency_recovery == static_cast<int>(kAbsoluteConsistency));
static_assert(cambium_point_in_time_recovery == static_cast<int>(kPointInTimeRecovery));
static_assert(cambium_skip_any_corrupted_records_recovery == static_cast<int>(kSkipAnyCorruptedRecords));
static_assert(cambium_btree_index == static_cast<int>(IndexKind::kBTree));
static_assert(cambium_lsm_index == static_cast<int>(IndexKind::kLsm));
static_assert(cambium_no_compression == static_cast<int>(kNoCompression));
static_assert(cambium_snappy_compression == static_cast<int>(CompressionType::kSnappyCompression));
static_assert(cambium_lz4_compression == static_cast<int>(kLZ4Compression));
static_assert(cambium_zstd_compression == static_cast<int>(kZSTD));
static_assert(cambium_value_clustering_off == static_cast<int>(ValueClustering::kOff));
static_assert(cambium_value_clustering_auto == static_cast<int>(ValueClustering::kAuto));
static_assert(cambium_value_clustering_full == static_cast<int>(ValueClustering::kFull));
static_assert(cambium_level_compaction == static_cast<int>(kCompactionStyleLevel));
static_assert(cambium_lazy_level_compaction == static_cast<int>(kCompactionStyleLazyLevel));
static_assert(cambium_blob_gc_policy_force == static_cast<int>(BlobGarbageCollectionPolicy::kForce));
static_assert(cambium_blob_gc_policy_disable == static_cast<int>(BlobGarbageCollectionPolicy::kDisable));
static_assert(cambium_blob_gc_policy_use_default == static_cast<int>(BlobGarbageCollectionPolicy::kUseDefault));
static_assert(cambium_filter_keep == static_cast<int>(CompactionFilter::Decision::kKeep));
static_assert(cambium_filter_remove == static_cast<int>(CompactionFilter::Decision::kRemove));
static_assert(cambium_filter_change_value == static_cast<int>(CompactionFilter::Decision::kChangeValue));
static_assert(cambium_filter_remove_and_skip_until == static_cast<int>(CompactionFilter::Decision::kRemoveAndSkipUntil));
static_assert(cambium_filter_undetermined == static_cast<int>(CompactionFilter::Decision::kUndetermined));
static_assert(cambium_trace_filter_none == static_cast<int>(kTraceFilterNone));
static_assert(cambium_trace_filter_get == static_cast<int>(kTraceFilterGet));
static_assert(cambium_trace_filter_write == static_cast<int>(kTraceFilterWrite));
static_assert(cambium_trace_filter_iterator_seek == static_cast<int>(kTraceFilterIteratorSeek));
static_assert(cambium_trace_filter_iterator_seek_for_prev == static_cast<int>(kTraceFilterIteratorSeekForPrev));
static_assert(cambium_trace_filter_multiget == static_cast<int>(kTraceFilterMultiGet));
static_assert(cambium_log_debug == static_cast<int>(InfoLogLevel::kDebug));
static_assert(cambium_log_error == static_cast<int>(InfoLogLevel::kError));

// ---- Options of single calls, which are in no table: each field is tested by hand ----

TEST(COptionsTest, OptionsOfReadsHaveSettersAndGetters) {
  cambium_readoptions_t read;
  EXPECT_EQ(cambium_readoptions_get_verify_checksums(&read), 1);
  cambium_readoptions_set_verify_checksums(&read, 0);
  EXPECT_FALSE(read.rep.verify_checksums);
  EXPECT_EQ(cambium_readoptions_get_verify_checksums(&read), 0);
  EXPECT_EQ(cambium_readoptions_get_fill_cache(&read), 1);
  cambium_readoptions_set_fill_cache(&read, 0);
  EXPECT_FALSE(read.rep.fill_cache);
  EXPECT_EQ(cambium_readoptions_get_fill_cache(&read), 0);
  EXPECT_EQ(cambium_readoptions_get_allow_unprepared_value(&read), 0);
  cambium_readoptions_set_allow_unprepared_value(&read, 7);
  EXPECT_TRUE(read.rep.allow_unprepared_value);
  EXPECT_EQ(cambium_readoptions_get_allow_unprepared_value(&read), 1);
  EXPECT_EQ(cambium_readoptions_get_async_io(&read), 1);
  cambium_readoptions_set_async_io(&read, 0);
  EXPECT_FALSE(read.rep.async_io);
  EXPECT_EQ(cambium_readoptions_get_pin_mapped_values(&read), 0);
  cambium_readoptions_set_pin_mapped_values(&read, 1);
  EXPECT_TRUE(read.rep.pin_mapped_values);
  EXPECT_EQ(cambium_readoptions_get_pin_mapped_values(&read), 1);
  EXPECT_EQ(cambium_readoptions_get_durable_only(&read), 0);
  cambium_readoptions_set_durable_only(&read, 1);
  EXPECT_TRUE(read.rep.durable_only);
  EXPECT_EQ(cambium_readoptions_get_durable_only(&read), 1);
}

TEST(COptionsTest, OptionsOfWritesHaveSettersAndGetters) {
  cambium_writeoptions_t write{};
  cambium_writeoptions_set_sync(&write, 1);
  EXPECT_TRUE(write.rep.sync);
  EXPECT_EQ(cambium_writeoptions_get_sync(&write), 1);
  EXPECT_EQ(cambium_writeoptions_get_disable_WAL(&write), 0);
  cambium_writeoptions_disable_WAL(&write, 1);
  EXPECT_TRUE(write.rep.disableWAL);
  EXPECT_EQ(cambium_writeoptions_get_disable_WAL(&write), 1);
  EXPECT_EQ(cambium_writeoptions_get_no_slowdown(&write), 0);
  cambium_writeoptions_set_no_slowdown(&write, 1);
  EXPECT_TRUE(write.rep.no_slowdown);
  EXPECT_EQ(cambium_writeoptions_get_no_slowdown(&write), 1);
}

TEST(COptionsTest, OptionsOfFlushesAndCompactionsHaveSettersAndGetters) {
  cambium_flushoptions_t flush{};
  EXPECT_EQ(cambium_flushoptions_get_wait(&flush), 1);
  cambium_flushoptions_set_wait(&flush, 0);
  EXPECT_FALSE(flush.rep.wait);
  EXPECT_EQ(cambium_flushoptions_get_wait(&flush), 0);

  cambium_compactoptions_t compact{};
  cambium_compactoptions_set_blob_garbage_collection_policy(&compact, cambium_blob_gc_policy_force);
  EXPECT_EQ(compact.rep.blob_garbage_collection_policy, BlobGarbageCollectionPolicy::kForce);
  EXPECT_EQ(cambium_compactoptions_get_blob_garbage_collection_policy(&compact), cambium_blob_gc_policy_force);
  cambium_compactoptions_set_blob_garbage_collection_age_cutoff(&compact, 0.5);
  EXPECT_EQ(compact.rep.blob_garbage_collection_age_cutoff, 0.5);
  EXPECT_EQ(cambium_compactoptions_get_blob_garbage_collection_age_cutoff(&compact), 0.5);
  EXPECT_EQ(cambium_compactoptions_get_cluster_values(&compact), 0);
  cambium_compactoptions_set_cluster_values(&compact, 1);
  EXPECT_TRUE(compact.rep.cluster_values);
}

TEST(COptionsTest, OptionsOfTracesHaveSettersAndGetters) {
  cambium_traceoptions_t trace{};
  EXPECT_EQ(cambium_traceoptions_get_max_trace_file_size(&trace), std::uint64_t{64} << 30);
  cambium_traceoptions_set_max_trace_file_size(&trace, 5000);
  EXPECT_EQ(trace.rep.max_trace_file_size, 5000u);
  EXPECT_EQ(cambium_traceoptions_get_max_trace_file_size(&trace), 5000u);
  EXPECT_EQ(cambium_traceoptions_get_sampling_frequency(&trace), 1u);
  cambium_traceoptions_set_sampling_frequency(&trace, 7);
  EXPECT_EQ(trace.rep.sampling_frequency, 7u);
  EXPECT_EQ(cambium_traceoptions_get_sampling_frequency(&trace), 7u);
  EXPECT_EQ(cambium_traceoptions_get_filter(&trace), 0u);
  cambium_traceoptions_set_filter(&trace, cambium_trace_filter_get | cambium_trace_filter_multiget);
  EXPECT_EQ(trace.rep.filter, kTraceFilterGet | kTraceFilterMultiGet);
  EXPECT_EQ(cambium_traceoptions_get_filter(&trace), 17u);
  EXPECT_EQ(cambium_traceoptions_get_preserve_write_order(&trace), 0);
  cambium_traceoptions_set_preserve_write_order(&trace, 1);
  EXPECT_TRUE(trace.rep.preserve_write_order);
  EXPECT_EQ(cambium_traceoptions_get_preserve_write_order(&trace), 1);
  EXPECT_EQ(cambium_traceoptions_get_include_values(&trace), 0);
  cambium_traceoptions_set_include_values(&trace, 1);
  EXPECT_TRUE(trace.rep.include_values);
  EXPECT_EQ(cambium_traceoptions_get_include_values(&trace), 1);
}

}  // namespace
}  // namespace cambium
