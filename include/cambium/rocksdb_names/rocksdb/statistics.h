// Statistics, under RocksDB's names. Counters that Cambium does not have do not compile.
#pragma once

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"
#include "cambium/statistics.h"

namespace rocksdb::inline on_cambium {

using cambium::CreateDBStatistics;
using cambium::HistogramData;
using cambium::Histograms;
using cambium::HistogramsNameMap;
using cambium::Statistics;
using cambium::StatsLevel;
using cambium::Tickers;
using cambium::TickersNameMap;
using enum cambium::Histograms;
using enum cambium::StatsLevel;
using enum cambium::Tickers;

}  // namespace rocksdb::inline on_cambium
