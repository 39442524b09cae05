#include <cstdio>
#include <new>

#include "util/statistics_impl.h"

namespace cambium {
namespace {

template <typename Map>
constexpr bool IsInOrder(const Map& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].first != i || names[i].second == nullptr) return false;
  }
  return true;
}
static_assert(IsInOrder(TickersNameMap) && IsInOrder(HistogramsNameMap), "the maps are indexed by number");

// Replaces *extreme by `value` if is_better(value, *extreme). Several threads may do so at once.
template <typename Better>
void Improve(std::atomic<std::uint64_t>* extreme, std::uint64_t value, Better is_better) {
  std::uint64_t now = extreme->load(std::memory_order_relaxed);
  while (is_better(value, now) && !extreme->compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

StatisticsImpl::StatisticsImpl() {
  counters_[ThreadStripe::Common().index()].store(new Counters, std::memory_order_release);
}

StatisticsImpl::~StatisticsImpl() {
  for (const auto& each : counters_) {
    const std::unique_ptr<Counters> counters(each.load(std::memory_order_acquire));
    if (counters == nullptr) continue;
    for (const auto& cells : counters->histograms) delete cells.load(std::memory_order_acquire);
  }
}

StatisticsImpl::Counters* StatisticsImpl::MakeCounters(ThreadStripe* stripe) {
  std::unique_ptr<Counters> made(new (std::nothrow) Counters);
  if (made == nullptr) {
    *stripe = ThreadStripe::Common();
    return counters_[stripe->index()].load(std::memory_order_acquire);
  }
  Counters* there = nullptr;
  if (counters_[stripe->index()].compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) {
    return made.release();
  }
  return there;  // made by another thread with the same stripe
}

StatisticsImpl::Cells* StatisticsImpl::CellsOf(Counters* counters, Histograms histogram) {
  std::atomic<Cells*>& place = counters->histograms[histogram];
  Cells* there = place.load(std::memory_order_acquire);
  if (there != nullptr) return there;
  std::unique_ptr<Cells> made(new (std::nothrow) Cells);
  if (made == nullptr) return nullptr;
  return place.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel) ? made.release() : there;
}

void StatisticsImpl::Measure(Histograms histogram, std::uint64_t value) {
  ThreadStripe stripe = ThreadStripe::OfThisThread();
  Cells* const cells = CellsOf(CountersOf(&stripe), histogram);
  if (cells == nullptr) return;
  Improve(&cells->min, value, std::less<>());
  Improve(&cells->max, value, std::greater<>());
  stripe.Add(&cells->sum, value);
  stripe.Add(&cells->counts[Buckets::Of(value)], 1);
}

std::uint64_t StatisticsImpl::Total(std::uint32_t ticker) const {
  std::uint64_t total = 0;
  for (const auto& each : counters_) {
    const Counters* const counters = each.load(std::memory_order_acquire);
    if (counters != nullptr) total += counters->tickers[ticker].load(std::memory_order_relaxed);
  }
  return total;
}

std::uint64_t StatisticsImpl::getTickerCount(std::uint32_t ticker) const {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  const MutexLock lock(mutex_);
  return Total(ticker) - ticker_bases_[ticker];
}

std::uint64_t StatisticsImpl::getAndResetTickerCount(std::uint32_t ticker) {
  if (ticker >= TICKER_ENUM_MAX) return 0;
  const MutexLock lock(mutex_);
  const std::uint64_t total = Total(ticker);
  return total - std::exchange(ticker_bases_[ticker], total);
}

bool StatisticsImpl::getTickerMap(std::map<std::string, std::uint64_t>* tickers) const {
  for (const auto& [ticker, name] : TickersNameMap) (*tickers)[name] = getTickerCount(ticker);
  return true;
}

StatisticsImpl::Base StatisticsImpl::TotalOf(std::uint32_t histogram) const {
  Base total;
  for (const auto& each : counters_) {
    const Counters* const counters = each.load(std::memory_order_acquire);
    const Cells* const cells =
        counters == nullptr ? nullptr : counters->histograms[histogram].load(std::memory_order_acquire);
    if (cells == nullptr) continue;
    for (std::size_t i = 0; i < Buckets::kCount; ++i) {
      total.counts[i] += cells->counts[i].load(std::memory_order_relaxed);
    }
    total.sum += cells->sum.load(std::memory_order_relaxed);
  }
  return total;
}

SmallHistogram StatisticsImpl::Read(std::uint32_t histogram) const {
  SmallHistogram read;
  if (histogram >= HISTOGRAM_ENUM_MAX) return read;
  const MutexLock lock(mutex_);
  Base now = TotalOf(histogram);
  if (const Base* const base = histogram_bases_[histogram].get(); base != nullptr) {
    for (std::size_t i = 0; i < Buckets::kCount; ++i) now.counts[i] -= base->counts[i];
    now.sum -= base->sum;
  }
  std::uint64_t min = UINT64_MAX;
  std::uint64_t max = 0;
  for (const auto& each : counters_) {
    const Counters* const counters = each.load(std::memory_order_acquire);
    const Cells* const cells =
        counters == nullptr ? nullptr : counters->histograms[histogram].load(std::memory_order_acquire);
    if (cells == nullptr) continue;
    min = std::min(min, cells->min.load(std::memory_order_relaxed));
    max = std::max(max, cells->max.load(std::memory_order_relaxed));
  }
  read.Merge(now.counts, static_cast<double>(now.sum), min, max);
  return read;
}

void StatisticsImpl::histogramData(std::uint32_t histogram, HistogramData* data) const {
  const SmallHistogram read = Read(histogram);
  data->median = static_cast<double>(read.Percentile(50));
  data->percentile95 = static_cast<double>(read.Percentile(95));
  data->percentile99 = static_cast<double>(read.Percentile(99));
  data->average = read.Mean();
  data->standard_deviation = read.StandardDeviation();
  data->max = static_cast<double>(read.max());
  data->count = read.count();
  data->sum = static_cast<std::uint64_t>(read.sum());
  data->min = static_cast<double>(read.min());
}

std::string StatisticsImpl::getHistogramString(std::uint32_t histogram) const { return Read(histogram).ToString(); }

std::string StatisticsImpl::ToString() const {
  std::string text;
  for (const auto& [ticker, name] : TickersNameMap) {
    text.append(name).append(" COUNT : ").append(std::to_string(getTickerCount(ticker))).append("\n");
  }
  for (const auto& [histogram, name] : HistogramsNameMap) {
    HistogramData data;
    histogramData(histogram, &data);
    char line[200];
    std::snprintf(line, sizeof(line), " P50 : %.0f P95 : %.0f P99 : %.0f P100 : %.0f COUNT : %llu SUM : %llu\n",
                  data.median, data.percentile95, data.percentile99, data.max,
                  static_cast<unsigned long long>(data.count), static_cast<unsigned long long>(data.sum));
    text.append(name).append(line);
  }
  return text;
}

Status StatisticsImpl::Reset() {
  std::array<std::unique_ptr<Base>, HISTOGRAM_ENUM_MAX> bases;
  for (auto& base : bases) base = std::make_unique<Base>();
  const MutexLock lock(mutex_);
  for (std::uint32_t ticker = 0; ticker < TICKER_ENUM_MAX; ++ticker) ticker_bases_[ticker] = Total(ticker);
  for (std::uint32_t histogram = 0; histogram < HISTOGRAM_ENUM_MAX; ++histogram) {
    *bases[histogram] = TotalOf(histogram);
    for (const auto& each : counters_) {
      const Counters* const counters = each.load(std::memory_order_acquire);
      Cells* const cells =
          counters == nullptr ? nullptr : counters->histograms[histogram].load(std::memory_order_acquire);
      if (cells == nullptr) continue;
      cells->min.store(UINT64_MAX, std::memory_order_relaxed);
      cells->max.store(0, std::memory_order_relaxed);
    }
  }
  histogram_bases_ = std::move(bases);
  return Status::OK();
}

std::shared_ptr<Statistics> CreateDBStatistics() { return std::make_shared<StatisticsImpl>(); }

}  // namespace cambium
