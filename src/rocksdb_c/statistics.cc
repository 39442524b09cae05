// Statistics. RocksDB numbers its tickers and histograms; those that this library has too are found by that number, and
// the others are zero.
#include <algorithm>
#include <iterator>

#include "cambium/statistics.h"
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using namespace cambium;

namespace {

// The numbers of RocksDB 11.8.1.
constexpr std::pair<std::uint32_t, Tickers> kTickers[] = {
    {0, BLOCK_CACHE_MISS},
    {1, BLOCK_CACHE_HIT},
    {2, BLOCK_CACHE_ADD},
    {17, BLOCK_CACHE_BYTES_WRITE},
    {35, BLOOM_FILTER_USEFUL},
    {36, BLOOM_FILTER_FULL_POSITIVE},
    {37, BLOOM_FILTER_FULL_TRUE_POSITIVE},
    {45, MEMTABLE_HIT},
    {46, MEMTABLE_MISS},
    {47, GET_HIT_L0},
    {48, GET_HIT_L1},
    {49, GET_HIT_L2_AND_UP},
    {58, NUMBER_KEYS_WRITTEN},
    {59, NUMBER_KEYS_READ},
    {61, BYTES_WRITTEN},
    {62, BYTES_READ},
    {63, NUMBER_DB_SEEK},
    {64, NUMBER_DB_NEXT},
    {65, NUMBER_DB_PREV},
    {66, NUMBER_DB_SEEK_FOUND},
    {67, NUMBER_DB_NEXT_FOUND},
    {68, NUMBER_DB_PREV_FOUND},
    {69, ITER_BYTES_READ},
    {70, NUMBER_ITER_SKIP},
    {72, NO_ITERATOR_CREATED},
    {73, NO_ITERATOR_DELETED},
    {76, STALL_MICROS},
    {78, NUMBER_MULTIGET_CALLS},
    {79, NUMBER_MULTIGET_KEYS_READ},
    {80, NUMBER_MULTIGET_BYTES_READ},
    {81, NUMBER_MULTIGET_KEYS_FOUND},
    {84, WAL_FILE_SYNCED},
    {85, WAL_FILE_BYTES},
    {93, WRITE_WITH_WAL},
    {94, COMPACT_READ_BYTES},
    {95, COMPACT_WRITE_BYTES},
    {96, FLUSH_WRITE_BYTES},
    {108, NUMBER_BLOCK_DECOMPRESSED},
    {148, BLOB_DB_BLOB_FILE_BYTES_WRITTEN},
    {149, BLOB_DB_BLOB_FILE_BYTES_READ},
    {150, BLOB_DB_BLOB_FILE_SYNCED},
    {158, BLOB_DB_GC_NUM_KEYS_RELOCATED},
    {159, BLOB_DB_GC_BYTES_RELOCATED},
};
constexpr std::pair<std::uint32_t, Histograms> kHistograms[] = {
    {0, DB_GET},
    {1, DB_WRITE},
    {2, COMPACTION_TIME},
    {7, WAL_FILE_SYNC_MICROS},
    {10, DB_MULTIGET},
    {15, DB_SEEK},
    {16, WRITE_STALL},
    {31, BYTES_PER_READ},
    {32, BYTES_PER_WRITE},
    {33, BYTES_PER_MULTIGET},
    {45, BLOB_DB_BLOB_FILE_WRITE_MICROS},
    {46, BLOB_DB_BLOB_FILE_READ_MICROS},
    {47, BLOB_DB_BLOB_FILE_SYNC_MICROS},
    {48, BLOB_DB_COMPRESSION_MICROS},
    {49, BLOB_DB_DECOMPRESSION_MICROS},
    {50, FLUSH_TIME},
};

template <typename Rows>
auto Find(const Rows& rows, std::uint32_t number) {
  const auto found = std::ranges::find(rows, number, [](const auto& each) { return each.first; });
  return found == std::end(rows) ? std::nullopt : std::optional(found->second);
}

}  // namespace

extern "C" {

void rocksdb_options_enable_statistics(rocksdb_options_t* options) { options->statistics = CreateDBStatistics(); }
void rocksdb_options_set_statistics_level(rocksdb_options_t* options, int level) {
  if (options->statistics == nullptr) return;
  options->statistics->set_stats_level(static_cast<cambium::StatsLevel>(std::clamp(level, 0, 5)));
}
int rocksdb_options_get_statistics_level(rocksdb_options_t* options) {
  return options->statistics == nullptr ? cambium::kDisableAll : options->statistics->get_stats_level();
}
char* rocksdb_options_statistics_get_string(rocksdb_options_t* options) {
  return options->statistics == nullptr ? nullptr : CopyBytes(options->statistics->ToString());
}
uint64_t rocksdb_options_statistics_get_ticker_count(rocksdb_options_t* options, uint32_t ticker) {
  const auto its = Find(kTickers, ticker);
  return options->statistics == nullptr || !its.has_value() ? 0 : options->statistics->getTickerCount(*its);
}
void rocksdb_options_statistics_get_histogram_data(rocksdb_options_t* options, uint32_t histogram,
                                                   rocksdb_statistics_histogram_data_t* const data) {
  data->rep = HistogramData();
  const auto its = Find(kHistograms, histogram);
  if (options->statistics != nullptr && its.has_value()) options->statistics->histogramData(*its, &data->rep);
}

rocksdb_statistics_histogram_data_t* rocksdb_statistics_histogram_data_create() {
  return new rocksdb_statistics_histogram_data_t;
}
void rocksdb_statistics_histogram_data_destroy(rocksdb_statistics_histogram_data_t* data) { delete data; }

#define CAMBIUM_ROCKSDB_FIGURE(type, c_name, name)                                                 \
  type rocksdb_statistics_histogram_data_get_##c_name(rocksdb_statistics_histogram_data_t* data) { \
    return data->rep.name;                                                                         \
  }
CAMBIUM_ROCKSDB_FIGURE(double, median, median)
CAMBIUM_ROCKSDB_FIGURE(double, p95, percentile95)
CAMBIUM_ROCKSDB_FIGURE(double, p99, percentile99)
CAMBIUM_ROCKSDB_FIGURE(double, average, average)
CAMBIUM_ROCKSDB_FIGURE(double, std_dev, standard_deviation)
CAMBIUM_ROCKSDB_FIGURE(double, max, max)
CAMBIUM_ROCKSDB_FIGURE(double, min, min)
CAMBIUM_ROCKSDB_FIGURE(uint64_t, count, count)
CAMBIUM_ROCKSDB_FIGURE(uint64_t, sum, sum)
#undef CAMBIUM_ROCKSDB_FIGURE

// ---- The perf context of a thread: not in this version. Its counts are zero ----

struct rocksdb_perfcontext_t {};

void rocksdb_set_perf_level(int /*level*/) {}
rocksdb_perfcontext_t* rocksdb_perfcontext_create() { return new rocksdb_perfcontext_t; }
void rocksdb_perfcontext_reset(rocksdb_perfcontext_t* /*context*/) {}
char* rocksdb_perfcontext_report(rocksdb_perfcontext_t* /*context*/, unsigned char /*exclude_zero_counters*/) {
  return CopyBytes("");
}
uint64_t rocksdb_perfcontext_metric(rocksdb_perfcontext_t* /*context*/, int /*metric*/) { return 0; }
void rocksdb_perfcontext_destroy(rocksdb_perfcontext_t* context) { delete context; }

}  // extern "C"
