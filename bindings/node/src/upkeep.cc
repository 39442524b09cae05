// Flushing, compacting, options of an open database, sizes, checkpoints and traces.
#include "database.h"
#include "newer.h"

namespace cambium_node {

namespace {

// (isSync, database, family, wait)
napi_value Flush(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const bool waits = args.Bool(3);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:flush", database, Work::kWrite, [=](Error* error) {
    const std::unique_ptr<cambium_flushoptions_t, void (*)(cambium_flushoptions_t*)> options(
        cambium_flushoptions_create(), &cambium_flushoptions_destroy);
    cambium_flushoptions_set_wait(options.get(), waits ? 1 : 0);
    cambium_flush_cf(core->db(), options.get(), family->handle(), error->Out());
  });
}

// (isSync, database)
napi_value SyncLog(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:syncLog", database, Work::kWrite,
                   [=](Error* error) { cambium_flush_wal(core->db(), 1, error->Out()); });
}

// (isSync, database, family, start, end, gc policy, gc age cutoff, clusterValues)
napi_value CompactRange(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const auto start = args.OptionalBytes(3, "the start");
  const auto end = args.OptionalBytes(4, "the end");
  const int policy = static_cast<int>(ToNumber(args.env(), args[5], "blobGarbageCollectionPolicy"));
  const double cutoff = ToNumber(args.env(), args[6], "blobGarbageCollectionAgeCutoff");
  const bool clusters = args.Bool(7);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:compactRange", database, Work::kWrite, [=](Error* error) {
    const std::unique_ptr<cambium_compactoptions_t, void (*)(cambium_compactoptions_t*)> options(
        cambium_compactoptions_create(), &cambium_compactoptions_destroy);
    cambium_compactoptions_set_blob_garbage_collection_policy(options.get(), policy);
    cambium_compactoptions_set_blob_garbage_collection_age_cutoff(options.get(), cutoff);
    cambium_compactoptions_set_cluster_values(options.get(), clusters ? 1 : 0);
    cambium_compact_range_cf_opt(core->db(), family->handle(), options.get(), start ? start->data() : nullptr,
                                 start ? start->size() : 0, end ? end->data() : nullptr, end ? end->size() : 0,
                                 error->Out());
  });
}

// (isSync, database)
napi_value WaitForCompact(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:waitForCompact", database, Work::kWrite,
                   [=](Error* error) { cambium_wait_for_compact(core->db(), error->Out()); });
}

// (isSync, database, flags, snapshot)
napi_value VerifyChecksums(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  CheckHas(&cambium_verify_checksum, "cambium_verify_checksum");
  const std::uint32_t flags = args.Uint32(2);
  const auto snapshot = SnapshotAt(args, 3, *database);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:verifyChecksums", database, Work::kRead, [=](Error* error) {
    const ReadOptions options(flags, snapshot == nullptr ? nullptr : snapshot->get());
    cambium_verify_checksum(core->db(), options.get(), error->Out());
  });
}

struct Pairs {
  Pairs(napi_env env, napi_value list) {
    std::uint32_t count = 0;
    Check(env, napi_get_array_length(env, list, &count));
    for (std::uint32_t i = 0; i < count; ++i) {
      napi_value element = nullptr;
      Check(env, napi_get_element(env, list, i, &element));
      texts.push_back(ToName(env, element, "an option"));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(texts.size() / 2); }
  [[nodiscard]] std::vector<const char*> Each(std::size_t first) const {
    std::vector<const char*> each;
    for (std::size_t i = first; i < texts.size(); i += 2) each.push_back(texts[i].c_str());
    return each;
  }
  std::vector<std::string> texts;  // name, value, name, value
};

// (isSync, database, family, [name, value, ...])
napi_value SetOptions(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const Pairs pairs(args.env(), args[3]);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:setOptions", database, Work::kWrite, [=](Error* error) {
    cambium_set_options_cf(core->db(), family->handle(), pairs.count(), pairs.Each(0).data(), pairs.Each(1).data(),
                           error->Out());
  });
}

// (isSync, database, [name, value, ...])
napi_value SetDbOptions(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  const Pairs pairs(args.env(), args[2]);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:setDBOptions", database, Work::kWrite, [=](Error* error) {
    cambium_set_db_options(core->db(), pairs.count(), pairs.Each(0).data(), pairs.Each(1).data(), error->Out());
  });
}

// (isSync, database, family, starts, ends, include) -> sizes
napi_value ApproximateSizes(const Args& args) {
  const napi_env env = args.env();
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  std::vector<std::string> starts;
  std::vector<std::string> ends;
  std::uint32_t count = 0;
  Check(env, napi_get_array_length(env, args[3], &count));
  for (std::uint32_t i = 0; i < count; ++i) {
    napi_value element = nullptr;
    Check(env, napi_get_element(env, args[3], i, &element));
    starts.push_back(Bytes(env, element, "the start of a range").Copy());
    Check(env, napi_get_element(env, args[4], i, &element));
    ends.push_back(Bytes(env, element, "the end of a range").Copy());
  }
  const auto include = static_cast<unsigned char>(args.Uint32(5));
  auto sizes = std::make_shared<std::vector<std::uint64_t>>(count);
  Core* const core = &database->core();
  return PerformOn(
      env, args.Bool(0), "cambium:approximateSizes", database, Work::kRead,
      [=](Error* error) {
        std::vector<const char*> start_keys;
        std::vector<const char*> end_keys;
        std::vector<std::size_t> start_lengths;
        std::vector<std::size_t> end_lengths;
        for (std::size_t i = 0; i < starts.size(); ++i) {
          start_keys.push_back(starts[i].data());
          start_lengths.push_back(starts[i].size());
          end_keys.push_back(ends[i].data());
          end_lengths.push_back(ends[i].size());
        }
        cambium_approximate_sizes_cf_with_flags(core->db(), family->handle(), static_cast<int>(starts.size()),
                                                start_keys.data(), start_lengths.data(), end_keys.data(),
                                                end_lengths.data(), include, sizes->data(), error->Out());
      },
      [=](napi_env at_end) {
        napi_value list = nullptr;
        Check(at_end, napi_create_array_with_length(at_end, sizes->size(), &list));
        for (std::size_t i = 0; i < sizes->size(); ++i) {
          Check(at_end, napi_set_element(at_end, list, static_cast<std::uint32_t>(i),
                                         FromNumber(at_end, static_cast<double>((*sizes)[i]))));
        }
        return list;
      });
}

// (isSync, database, directory, logSizeForFlush)
napi_value Checkpoint(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  const std::string directory = args.Name(2, "the directory");
  const std::uint64_t log_size = ToUint64(args.env(), args[3], "logSizeForFlush");
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:checkpoint", database, Work::kWrite, [=](Error* error) {
    cambium_checkpoint_t* const checkpoint = cambium_checkpoint_object_create(core->db(), error->Out());
    if (checkpoint == nullptr) return;
    cambium_checkpoint_create(checkpoint, directory.c_str(), log_size, error->Out());
    cambium_checkpoint_object_destroy(checkpoint);
  });
}

// (isSync, database, path, maxFileSize, samplingFrequency, filter, preserveWriteOrder, includeValues); numbers may be
// undefined
napi_value StartTrace(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const std::string path = args.Name(2, "the path");
  const std::shared_ptr<cambium_traceoptions_t> options(cambium_traceoptions_create(), &cambium_traceoptions_destroy);
  if (!args.IsNothing(3)) {
    cambium_traceoptions_set_max_trace_file_size(options.get(), ToUint64(args.env(), args[3], "maxTraceFileSize"));
  }
  if (!args.IsNothing(4)) {
    cambium_traceoptions_set_sampling_frequency(options.get(), ToUint64(args.env(), args[4], "samplingFrequency"));
  }
  cambium_traceoptions_set_filter(options.get(), args.Uint32(5));
  cambium_traceoptions_set_preserve_write_order(options.get(), args.Bool(6) ? 1 : 0);
  cambium_traceoptions_set_include_values(options.get(), args.Bool(7) ? 1 : 0);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:startTrace", database, Work::kWrite,
                   [=](Error* error) { cambium_start_trace(core->db(), options.get(), path.c_str(), error->Out()); });
}

// (isSync, database)
napi_value EndTrace(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  Core* const core = &database->core();
  return PerformOn(args.env(), args.Bool(0), "cambium:endTrace", database, Work::kWrite,
                   [=](Error* error) { cambium_end_trace(core->db(), error->Out()); });
}

}  // namespace

void ExportUpkeep(napi_env env, napi_value exports) {
  Export<Flush>(env, exports, "flush");
  Export<SyncLog>(env, exports, "syncLog");
  Export<CompactRange>(env, exports, "compactRange");
  Export<WaitForCompact>(env, exports, "waitForCompact");
  Export<VerifyChecksums>(env, exports, "verifyChecksums");
  Export<SetOptions>(env, exports, "setOptions");
  Export<SetDbOptions>(env, exports, "setDBOptions");
  Export<ApproximateSizes>(env, exports, "approximateSizes");
  Export<Checkpoint>(env, exports, "checkpoint");
  Export<StartTrace>(env, exports, "startTrace");
  Export<EndTrace>(env, exports, "endTrace");
}

}  // namespace cambium_node
