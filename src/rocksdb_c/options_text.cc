// Options as text, and those of a database that exists.
#include <charconv>
#include <string_view>

#include "cambium/convenience.h"
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::Status;

namespace {

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

template <typename Number>
bool Parse(std::string_view text, Number* number) {
  if (text == "true" || text == "false") {
    *number = static_cast<Number>(text == "true");
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

Status SetByName(rocksdb_options_t* options, std::string_view name, std::string_view value) {
#define CAMBIUM_ROCKSDB_BY_NAME(prefix, field, set_type, get_type, initial)                                    \
  if (name == #field) {                                                                                        \
    set_type number{};                                                                                         \
    if (!Parse(value, &number)) return Status::InvalidArgument(std::string(name) + ": " + std::string(value)); \
    options->field = Stored<get_type>(number);                                                                 \
    options->given.set(kRocks_##field);                                                                        \
    return Status::OK();                                                                                       \
  }
  CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_BY_NAME, options)
#undef CAMBIUM_ROCKSDB_BY_NAME
  if (value.starts_with("{")) {  // the options of an object, such as a table factory
    options->hints.emplace_back(name);
    return Status::OK();
  }
  return Status::InvalidArgument("no option " + std::string(name));
}

// "name=value;name={name=value;...}".
Status SetFromText(rocksdb_options_t* options, std::string_view text) {
  while (!(text = Trimmed(text)).empty()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) return Status::InvalidArgument("no value: " + std::string(text));
    std::size_t end = equals;
    int depth = 0;
    for (; end < text.size() && (text[end] != ';' || depth > 0); ++end) {
      depth += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
    }
    const std::string_view value = Trimmed(text.substr(equals + 1, end - equals - 1));
    CAMBIUM_RETURN_IF_ERROR(SetByName(options, Trimmed(text.substr(0, equals)), value));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Status::OK();
}

rocksdb_options_t* FromCambium(const cambium::Options& from) {
  auto* const to = new rocksdb_options_t;
#define CAMBIUM_ROCKSDB_COPY(name, value)            \
  to->name = static_cast<decltype(to->name)>(value); \
  to->given.set(kRocks_##name)
  CAMBIUM_ROCKSDB_COPY(create_if_missing, from.create_if_missing);
  CAMBIUM_ROCKSDB_COPY(create_missing_column_families, from.create_missing_column_families);
  CAMBIUM_ROCKSDB_COPY(max_open_files, from.max_open_files);
  CAMBIUM_ROCKSDB_COPY(max_background_jobs, from.max_background_jobs);
  CAMBIUM_ROCKSDB_COPY(max_total_wal_size, from.max_total_wal_size);
  CAMBIUM_ROCKSDB_COPY(write_buffer_size, from.write_buffer_size);
  CAMBIUM_ROCKSDB_COPY(max_write_buffer_number, from.max_write_buffer_number);
  CAMBIUM_ROCKSDB_COPY(enable_blob_files, from.enable_blob_files);
  CAMBIUM_ROCKSDB_COPY(min_blob_size, from.min_blob_size);
  CAMBIUM_ROCKSDB_COPY(blob_file_size, from.blob_file_size);
  CAMBIUM_ROCKSDB_COPY(enable_blob_gc, from.enable_blob_garbage_collection);
  CAMBIUM_ROCKSDB_COPY(num_levels, from.num_levels);
  CAMBIUM_ROCKSDB_COPY(compression, from.compression);
#undef CAMBIUM_ROCKSDB_COPY
  return to;
}

}  // namespace

extern "C" {

void rocksdb_get_options_from_string(const rocksdb_options_t* base, const char* text, rocksdb_options_t* result,
                                     char** errptr) {
  Guarded(errptr, [&] {
    rocksdb_options_t read = *base;
    Status status = SetFromText(&read, text);
    if (status.ok()) *result = std::move(read);
    return status;
  });
}

void rocksdb_load_latest_options(const char* path, rocksdb_env_t* /*env*/, bool ignore_unknown_options,
                                 rocksdb_cache_t* /*cache*/, rocksdb_options_t** options, size_t* count, char*** names,
                                 rocksdb_options_t*** family_options, char** errptr) {
  *options = nullptr;
  *count = 0;
  *names = nullptr;
  *family_options = nullptr;
  Guarded(errptr, [&]() -> Status {
    cambium::ConfigOptions config;
    config.ignore_unknown_options = ignore_unknown_options;
    cambium::DBOptions whole;
    std::vector<cambium::ColumnFamilyDescriptor> families;
    CAMBIUM_RETURN_IF_ERROR(LoadLatestOptions(config, path, &whole, &families));
    std::vector<std::string> found;
    auto list = std::make_unique<rocksdb_options_t*[]>(families.size());
    for (std::size_t i = 0; i < families.size(); ++i) {
      found.push_back(families[i].name);
      list[i] = FromCambium(cambium::Options(whole, families[i].options));
    }
    *names = CopyStrings(found);
    *count = found.size();
    *family_options = list.release();
    *options = FromCambium(cambium::Options(whole, {}));
    return Status::OK();
  });
}
void rocksdb_load_latest_options_destroy(rocksdb_options_t* options, char** names, rocksdb_options_t** family_options,
                                         size_t count) {
  delete options;
  cambium_string_list_destroy(names, count);
  for (size_t i = 0; i < count && family_options != nullptr; ++i) delete family_options[i];
  delete[] family_options;
}

}  // extern "C"
