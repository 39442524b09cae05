#include "c/wrappers.h"

#include <algorithm>

using cambium::c::CopyBytes;

namespace {

template <typename Names>
uint32_t NumberOf(const Names& names, const char* name) {
  const auto found = std::ranges::find_if(names, [name](const auto& each) { return cambium::Slice(each.second) == name; });
  return found == names.end() ? UINT32_MAX : static_cast<uint32_t>(found->first);
}

}  // namespace

void cambium_options_enable_statistics(cambium_options_t* options) {
  if (options->rep.statistics == nullptr) options->rep.statistics = cambium::CreateDBStatistics();
}
void cambium_options_set_statistics_level(cambium_options_t* options, int level) {
  if (options->rep.statistics == nullptr) return;
  options->rep.statistics->set_stats_level(static_cast<cambium::StatsLevel>(std::clamp(level, 0, 255)));
}
int cambium_options_get_statistics_level(const cambium_options_t* options) {
  return options->rep.statistics == nullptr ? cambium::kDisableAll : options->rep.statistics->get_stats_level();
}
char* cambium_options_statistics_get_string(const cambium_options_t* options) {
  return options->rep.statistics == nullptr ? nullptr : CopyBytes(options->rep.statistics->ToString());
}
uint32_t cambium_statistics_ticker(const char* name) { return NumberOf(cambium::TickersNameMap, name); }
uint32_t cambium_statistics_histogram(const char* name) { return NumberOf(cambium::HistogramsNameMap, name); }
uint64_t cambium_options_statistics_get_ticker_count(const cambium_options_t* options, uint32_t ticker) {
  return options->rep.statistics == nullptr ? 0 : options->rep.statistics->getTickerCount(ticker);
}
void cambium_options_statistics_get_histogram_data(const cambium_options_t* options, uint32_t histogram,
                                                   cambium_statistics_histogram_data_t* data) {
  data->rep = cambium::HistogramData();
  if (options->rep.statistics != nullptr) options->rep.statistics->histogramData(histogram, &data->rep);
}

cambium_statistics_histogram_data_t* cambium_statistics_histogram_data_create() {
  return new cambium_statistics_histogram_data_t;
}
void cambium_statistics_histogram_data_destroy(cambium_statistics_histogram_data_t* data) { delete data; }

#define CAMBIUM_C_FIGURE(type, c_name, name)                                                                         \
  type cambium_statistics_histogram_data_get_##c_name(const cambium_statistics_histogram_data_t* data) {             \
    return data->rep.name;                                                                                           \
  }
CAMBIUM_C_FIGURE(double, median, median)
CAMBIUM_C_FIGURE(double, p95, percentile95)
CAMBIUM_C_FIGURE(double, p99, percentile99)
CAMBIUM_C_FIGURE(double, average, average)
CAMBIUM_C_FIGURE(double, std_dev, standard_deviation)
CAMBIUM_C_FIGURE(double, max, max)
CAMBIUM_C_FIGURE(double, min, min)
CAMBIUM_C_FIGURE(uint64_t, count, count)
CAMBIUM_C_FIGURE(uint64_t, sum, sum)
#undef CAMBIUM_C_FIGURE
