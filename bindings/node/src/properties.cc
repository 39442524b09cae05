// Properties, options in force, and statistics.
#include "database.h"
#include "newer.h"

namespace cambium_node {

namespace {

// A text of the library, which is freed; null: undefined.
napi_value TakeText(napi_env env, char* text) {
  const std::unique_ptr<char, void (*)(char*)> owned(text, [](char* bytes) { cambium_free(bytes); });
  return text == nullptr ? Undefined(env) : FromText(env, text);
}

// The handle of the family at i; undefined: the default one.
std::shared_ptr<Family> OpenFamilyAt(const Args& args, std::size_t i, const Database& database) {
  database.CheckOpen();
  return FamilyAt(args, i, database);
}

// (database, family, name) -> text, or undefined
napi_value PropertyText(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  const auto family = OpenFamilyAt(args, 1, *database);
  const std::string name = args.Name(2, "the name of the property");
  return TakeText(args.env(), cambium_property_value_cf(database->db(), family->handle(), name.c_str()));
}

// (database, family, name) -> BigInt, or undefined
napi_value PropertyNumber(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  const auto family = OpenFamilyAt(args, 1, *database);
  const std::string name = args.Name(2, "the name of the property");
  std::uint64_t value = 0;
  if (cambium_property_int_cf(database->db(), family->handle(), name.c_str(), &value) != 0) {
    return Undefined(args.env());
  }
  return FromUint64(args.env(), value);
}

// (database) -> text, or undefined
napi_value Identity(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  CheckHas(&cambium_get_db_identity, "cambium_get_db_identity");
  std::size_t length = 0;
  return TakeText(args.env(), cambium_get_db_identity(database->db(), &length));
}

// (database) -> BigInt
napi_value LatestSequence(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  return FromUint64(args.env(), cambium_get_latest_sequence_number(database->db()));
}

// (database, family) -> text
napi_value OptionsText(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  const auto family = OpenFamilyAt(args, 1, *database);
  const std::unique_ptr<cambium_options_t, void (*)(cambium_options_t*)> options(
      cambium_get_options_cf(database->db(), family->handle()), &cambium_options_destroy);
  Error error;
  char* const text = cambium_options_to_string(options.get(), error.Out());
  error.Throw();
  return TakeText(args.env(), text);
}

// (database) -> text, or undefined
napi_value StatisticsText(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  return TakeText(args.env(), cambium_options_statistics_get_string(database->statistics()));
}

// (database, name) -> BigInt, or undefined for an unknown name
napi_value Ticker(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  const std::uint32_t number = cambium_statistics_ticker(args.Name(1, "the name of the ticker").c_str());
  if (number == UINT32_MAX) return Undefined(args.env());
  return FromUint64(args.env(), cambium_options_statistics_get_ticker_count(database->statistics(), number));
}

// (database, name) -> figures, or undefined for an unknown name
napi_value Histogram(const Args& args) {
  const napi_env env = args.env();
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  const std::uint32_t number = cambium_statistics_histogram(args.Name(1, "the name of the histogram").c_str());
  if (number == UINT32_MAX) return Undefined(env);
  using Data = cambium_statistics_histogram_data_t;
  const std::unique_ptr<Data, void (*)(Data*)> data(cambium_statistics_histogram_data_create(),
                                                    &cambium_statistics_histogram_data_destroy);
  cambium_options_statistics_get_histogram_data(database->statistics(), number, data.get());
  napi_value figures = nullptr;
  Check(env, napi_create_object(env, &figures));
  const auto set = [&](const char* name, napi_value value) {
    Check(env, napi_set_named_property(env, figures, name, value));
  };
  set("median", FromNumber(env, cambium_statistics_histogram_data_get_median(data.get())));
  set("p95", FromNumber(env, cambium_statistics_histogram_data_get_p95(data.get())));
  set("p99", FromNumber(env, cambium_statistics_histogram_data_get_p99(data.get())));
  set("average", FromNumber(env, cambium_statistics_histogram_data_get_average(data.get())));
  set("standardDeviation", FromNumber(env, cambium_statistics_histogram_data_get_std_dev(data.get())));
  set("max", FromNumber(env, cambium_statistics_histogram_data_get_max(data.get())));
  set("min", FromNumber(env, cambium_statistics_histogram_data_get_min(data.get())));
  set("count", FromUint64(env, cambium_statistics_histogram_data_get_count(data.get())));
  set("sum", FromUint64(env, cambium_statistics_histogram_data_get_sum(data.get())));
  return figures;
}

// (database) -> the level
napi_value StatisticsLevel(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  return FromNumber(args.env(), cambium_options_get_statistics_level(database->statistics()));
}

// (database, level)
napi_value SetStatisticsLevel(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  cambium_options_set_statistics_level(database->statistics(), static_cast<int>(args.Uint32(1)));
  return Undefined(args.env());
}

// () -> [ABI version of the header, of the library, major, minor, patch]
napi_value Versions(const Args& args) {
  const napi_env env = args.env();
  const int versions[] = {CAMBIUM_ABI_VERSION, cambium_abi_version(), cambium_major_version(), cambium_minor_version(),
                          cambium_patch_version()};
  napi_value list = nullptr;
  Check(env, napi_create_array_with_length(env, 5, &list));
  std::uint32_t i = 0;
  for (const int version : versions) Check(env, napi_set_element(env, list, i++, FromNumber(env, version)));
  return list;
}

}  // namespace

void ExportProperties(napi_env env, napi_value exports) {
  Export<PropertyText>(env, exports, "property");
  Export<PropertyNumber>(env, exports, "propertyNumber");
  Export<Identity>(env, exports, "identity");
  Export<LatestSequence>(env, exports, "latestSequence");
  Export<OptionsText>(env, exports, "options");
  Export<StatisticsText>(env, exports, "statistics");
  Export<Ticker>(env, exports, "ticker");
  Export<Histogram>(env, exports, "histogram");
  Export<StatisticsLevel>(env, exports, "statisticsLevel");
  Export<SetStatisticsLevel>(env, exports, "setStatisticsLevel");
  Export<Versions>(env, exports, "versions");
}

}  // namespace cambium_node
