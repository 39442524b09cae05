#include <cstdint>
#include <initializer_list>
#include <variant>
#include <vector>

#include "callbacks.h"
#include "instance.h"

namespace cambium_node {

namespace {

// The details of an event. They own their bytes, because the library's live only during its call.
struct ErrorText {
  std::string text;
};
using Value = std::variant<std::string, std::vector<std::string>, std::uint64_t, bool, ErrorText>;
using Details = std::vector<std::pair<const char*, Value>>;

napi_value ToJs(napi_env env, const Value& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return FromText(env, *text);
  if (const auto* const number = std::get_if<std::uint64_t>(&value)) {
    return FromNumber(env, static_cast<double>(*number));
  }
  if (const auto* const truth = std::get_if<bool>(&value)) return FromBool(env, *truth);
  if (const auto* const error = std::get_if<ErrorText>(&value)) {
    napi_value made = nullptr;
    return MakeError(env, error->text, &made) ? made : Undefined(env);
  }
  const auto& texts = std::get<std::vector<std::string>>(value);
  napi_value list = nullptr;
  Check(env, napi_create_array_with_length(env, texts.size(), &list));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Check(env, napi_set_element(env, list, static_cast<std::uint32_t>(i), FromText(env, texts[i])));
  }
  return list;
}

void Emit(void* state, const char* name, Details details) {
  static_cast<JsFunction*>(state)->Post([name, details = std::move(details)](napi_env env, napi_value function) {
    napi_value object = nullptr;
    Check(env, napi_create_object(env, &object));
    for (const auto& [key, value] : details) {
      Check(env, napi_set_named_property(env, object, key, ToJs(env, value)));
    }
    napi_value arguments[] = {FromText(env, name), object};
    napi_value result = nullptr;
    Check(env, napi_call_function(env, Undefined(env), function, 2, arguments, &result));
  });
}

template <typename Info>
std::string Text(const char* (*getter)(const Info*, std::size_t*), const Info* info) {
  std::size_t length = 0;
  const char* const text = getter(info, &length);
  return std::string(text, length);
}
template <typename Info>
std::vector<std::string> Texts(std::size_t (*count)(const Info*),
                               const char* (*at)(const Info*, std::size_t, std::size_t*), const Info* info) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count(info); ++i) {
    std::size_t length = 0;
    const char* const text = at(info, i, &length);
    texts.emplace_back(text, length);
  }
  return texts;
}
// Adds the error of a status, if it is one.
template <typename Info>
void AddError(Details& details, void (*getter)(const Info*, char**), const Info* info) {
  Error error;
  getter(info, error.Out());
  if (error.IsSet()) details.emplace_back("error", ErrorText{error.Text()});
}
// The name of an enumerator.
std::string Name(int number, std::initializer_list<const char*> names) {
  return number >= 0 && static_cast<std::size_t>(number) < names.size() ? names.begin()[number] : "unknown";
}

std::string FlushReason(int reason) {
  return Name(reason, {"writeBufferFull", "walFull", "manualFlush", "space", "idle", "recovery", "writeBufferManager"});
}
std::string TableFileReason(int reason) {
  return Name(reason, {"flush", "compaction", "unknown", "unknown", "logGc", "snapshot"});
}
std::string BlobFileReason(int reason) { return Name(reason, {"log", "largeValue", "logGc", "compactionFilter"}); }

Details OfFlush(const cambium_flushjobinfo_t* info) {
  return {{"columnFamily", Text(&cambium_flushjobinfo_cf_name, info)},
          {"columnFamilyId", std::uint64_t{cambium_flushjobinfo_cf_id(info)}},
          {"jobId", static_cast<std::uint64_t>(cambium_flushjobinfo_job_id(info))},
          {"reason", FlushReason(cambium_flushjobinfo_flush_reason(info))},
          {"entries", cambium_flushjobinfo_num_entries(info)},
          {"largestSequenceNumber", cambium_flushjobinfo_largest_seqno(info)}};
}
void OnFlushBegin(void* state, cambium_t*, const cambium_flushjobinfo_t* info) {
  Emit(state, "flushBegin", OfFlush(info));
}
void OnFlush(void* state, cambium_t*, const cambium_flushjobinfo_t* info) {
  Details details = OfFlush(info);
  details.emplace_back("mergedIntoTree", cambium_flushjobinfo_merged_into_tree(info) != 0);
  details.emplace_back("outputFiles",
                       Texts(&cambium_flushjobinfo_output_files_count, &cambium_flushjobinfo_output_file_at, info));
  details.emplace_back("bytesWritten", cambium_flushjobinfo_bytes_written(info));
  details.emplace_back("elapsedMicros", cambium_flushjobinfo_elapsed_micros(info));
  AddError(details, &cambium_flushjobinfo_status, info);
  Emit(state, "flush", std::move(details));
}

Details OfCompaction(const cambium_compactionjobinfo_t* info) {
  return {{"columnFamily", Text(&cambium_compactionjobinfo_cf_name, info)},
          {"columnFamilyId", std::uint64_t{cambium_compactionjobinfo_cf_id(info)}},
          {"jobId", static_cast<std::uint64_t>(cambium_compactionjobinfo_job_id(info))},
          {"reason",
           Name(cambium_compactionjobinfo_compaction_reason(info), {"sweep", "levels", "manualCompaction", "space"})}};
}
void OnCompactionBegin(void* state, cambium_t*, const cambium_compactionjobinfo_t* info) {
  Emit(state, "compactionBegin", OfCompaction(info));
}
void OnCompaction(void* state, cambium_t*, const cambium_compactionjobinfo_t* info) {
  Details details = OfCompaction(info);
  details.emplace_back("baseInputLevel", static_cast<std::uint64_t>(cambium_compactionjobinfo_base_input_level(info)));
  details.emplace_back("outputLevel", static_cast<std::uint64_t>(cambium_compactionjobinfo_output_level(info)));
  details.emplace_back("inputFiles", Texts(&cambium_compactionjobinfo_input_files_count,
                                           &cambium_compactionjobinfo_input_file_at, info));
  details.emplace_back("outputFiles", Texts(&cambium_compactionjobinfo_output_files_count,
                                            &cambium_compactionjobinfo_output_file_at, info));
  details.emplace_back("bytesRead", cambium_compactionjobinfo_bytes_read(info));
  details.emplace_back("bytesWritten", cambium_compactionjobinfo_bytes_written(info));
  details.emplace_back("entriesMerged", cambium_compactionjobinfo_entries_merged(info));
  details.emplace_back("entriesDropped", cambium_compactionjobinfo_entries_dropped(info));
  details.emplace_back("elapsedMicros", cambium_compactionjobinfo_elapsed_micros(info));
  AddError(details, &cambium_compactionjobinfo_status, info);
  Emit(state, "compaction", std::move(details));
}

void OnLogGc(void* state, cambium_t*, const cambium_loggcjobinfo_t* info) {
  Details details = {
      {"jobId", static_cast<std::uint64_t>(cambium_loggcjobinfo_job_id(info))},
      {"reason", Name(cambium_loggcjobinfo_reason(info),
                      {"garbage", "forced", "smallSegments", "space", "manualCompaction", "clustering"})},
      {"inputFiles", Texts(&cambium_loggcjobinfo_input_files_count, &cambium_loggcjobinfo_input_file_at, info)},
      {"emptiedFiles", Texts(&cambium_loggcjobinfo_emptied_files_count, &cambium_loggcjobinfo_emptied_file_at, info)},
      {"punchedFiles", Texts(&cambium_loggcjobinfo_punched_files_count, &cambium_loggcjobinfo_punched_file_at, info)},
      {"bytesRead", cambium_loggcjobinfo_bytes_read(info)},
      {"keysRelocated", cambium_loggcjobinfo_keys_relocated(info)},
      {"bytesWritten", cambium_loggcjobinfo_bytes_written(info)},
      {"bytesFreed", cambium_loggcjobinfo_bytes_freed(info)},
      {"elapsedMicros", cambium_loggcjobinfo_elapsed_micros(info)}};
  AddError(details, &cambium_loggcjobinfo_status, info);
  Emit(state, "logGc", std::move(details));
}

void OnMemtableSealed(void* state, const cambium_memtableinfo_t* info) {
  Emit(state, "memtableSealed",
       {{"columnFamily", Text(&cambium_memtableinfo_cf_name, info)},
        {"columnFamilyId", std::uint64_t{cambium_memtableinfo_cf_id(info)}},
        {"entries", cambium_memtableinfo_num_entries(info)},
        {"rangeDeletes", cambium_memtableinfo_num_range_deletes(info)},
        {"memoryBytes", cambium_memtableinfo_memory_bytes(info)},
        {"reason", FlushReason(cambium_memtableinfo_reason(info))}});
}

Details OfTableFile(const cambium_tablefilecreationinfo_t* info) {
  return {{"columnFamily", Text(&cambium_tablefilecreationinfo_cf_name, info)},
          {"columnFamilyId", std::uint64_t{cambium_tablefilecreationinfo_cf_id(info)}},
          {"path", Text(&cambium_tablefilecreationinfo_file_path, info)},
          {"fileNumber", cambium_tablefilecreationinfo_file_number(info)},
          {"jobId", static_cast<std::uint64_t>(cambium_tablefilecreationinfo_job_id(info))},
          {"reason", TableFileReason(cambium_tablefilecreationinfo_reason(info))}};
}
void OnTableFileStarted(void* state, const cambium_tablefilecreationinfo_t* info) {
  Emit(state, "tableFileStarted", OfTableFile(info));
}
void OnTableFileCreated(void* state, const cambium_tablefilecreationinfo_t* info) {
  Details details = OfTableFile(info);
  details.emplace_back("fileSize", cambium_tablefilecreationinfo_file_size(info));
  AddError(details, &cambium_tablefilecreationinfo_status, info);
  Emit(state, "tableFileCreated", std::move(details));
}
void OnTableFileDeleted(void* state, const cambium_tablefiledeletioninfo_t* info) {
  Emit(state, "tableFileDeleted",
       {{"path", Text(&cambium_tablefiledeletioninfo_file_path, info)},
        {"fileNumber", cambium_tablefiledeletioninfo_file_number(info)}});
}

Details OfBlobFile(const cambium_blobfilecreationinfo_t* info) {
  return {{"path", Text(&cambium_blobfilecreationinfo_file_path, info)},
          {"fileNumber", cambium_blobfilecreationinfo_file_number(info)},
          {"reason", BlobFileReason(cambium_blobfilecreationinfo_reason(info))}};
}
void OnBlobFileStarted(void* state, const cambium_blobfilecreationinfo_t* info) {
  Emit(state, "blobFileStarted", OfBlobFile(info));
}
void OnBlobFileCreated(void* state, const cambium_blobfilecreationinfo_t* info) {
  Details details = OfBlobFile(info);
  details.emplace_back("fileSize", cambium_blobfilecreationinfo_file_size(info));
  AddError(details, &cambium_blobfilecreationinfo_status, info);
  Emit(state, "blobFileCreated", std::move(details));
}
void OnBlobFileDeleted(void* state, const cambium_blobfiledeletioninfo_t* info) {
  Emit(state, "blobFileDeleted",
       {{"path", Text(&cambium_blobfiledeletioninfo_file_path, info)},
        {"fileNumber", cambium_blobfiledeletioninfo_file_number(info)}});
}

void OnStall(void* state, const cambium_writestallinfo_t* info) {
  const auto condition = [](int number) { return Name(number, {"normal", "delayed", "stopped"}); };
  Emit(state, "stall",
       {{"columnFamily", Text(&cambium_writestallinfo_cf_name, info)},
        {"columnFamilyId", std::uint64_t{cambium_writestallinfo_cf_id(info)}},
        {"cause", Name(cambium_writestallinfo_cause(info),
                       {"memtableLimit", "l0FileCountLimit", "space", "writeBufferManagerLimit"})},
        {"current", condition(cambium_writestallinfo_cur(info))},
        {"previous", condition(cambium_writestallinfo_prev(info))},
        {"change", cambium_writestallinfo_change(info)}});
}

void OnBackgroundError(void* state, const cambium_backgrounderrorinfo_t* info) {
  Details details = {{"reason", Name(cambium_backgrounderrorinfo_reason(info),
                                     {"flush", "compaction", "logGc", "files", "manifestWrite", "write"})}};
  AddError(details, &cambium_backgrounderrorinfo_status, info);
  Emit(state, "backgroundError", std::move(details));
}

}  // namespace

// The library owns the function: it destroys it with the last database that uses the listener.
Listener::Listener(napi_env env, napi_value emit)
    : listener_(cambium_eventlistener_create(
          new JsFunction(env, emit, "onEvent"), [](void* state) { delete static_cast<JsFunction*>(state); },
          &OnFlushBegin, &OnFlush, &OnCompactionBegin, &OnCompaction, &OnBackgroundError, &OnStall,
          &OnMemtableSealed)) {
  cambium_eventlistener_set_on_log_gc_completed(listener_, &OnLogGc);
  cambium_eventlistener_set_on_table_files(listener_, &OnTableFileStarted, &OnTableFileCreated, &OnTableFileDeleted);
  cambium_eventlistener_set_on_blob_files(listener_, &OnBlobFileStarted, &OnBlobFileCreated, &OnBlobFileDeleted);
}

}  // namespace cambium_node
