#include "options.h"

#include "callbacks.h"

namespace cambium_node {

namespace {

// The library's own comparators, which all databases of the process share.
cambium_comparator_t* Bytewise() {
  static cambium_comparator_t* const comparator = cambium_comparator_create_bytewise();
  return comparator;
}
cambium_comparator_t* ReverseBytewise() {
  static cambium_comparator_t* const comparator = cambium_comparator_create_reverse_bytewise();
  return comparator;
}

}  // namespace

Options::Options(napi_env env, napi_value spec) : options_(cambium_options_create()) {
  // The destructor does not run if this constructor throws.
  std::unique_ptr<cambium_options_t, void (*)(cambium_options_t*)> made(options_, &cambium_options_destroy);
  if (ToBool(env, Property(env, spec, "rocksdb"))) cambium_options_optimize_for_rocksdb_compatibility(options_);

  const napi_value comparator = Property(env, spec, "comparator");
  napi_valuetype type = napi_undefined;
  Check(env, napi_typeof(env, comparator, &type));
  if (type == napi_object) {
    auto own = std::make_shared<Comparator>(env, ToName(env, Property(env, comparator, "name"), "comparator.name"),
                                            Property(env, comparator, "compare"));
    cambium_options_set_comparator(options_, own->get());
    borrowed_.push_back(std::move(own));
    order_ = Order::kFunction;
  } else if (type == napi_string && ToText(env, comparator, "comparator") == "reverse-bytewise") {
    cambium_options_set_comparator(options_, ReverseBytewise());
    order_ = Order::kReverseBytewise;
  } else {
    cambium_options_set_comparator(options_, Bytewise());
  }

  if (const napi_value filter = Property(env, spec, "filter"); !IsNothing(env, filter)) {
    auto own = std::make_shared<CompactionFilter>(env, ToName(env, Property(env, filter, "name"), "filter.name"),
                                                  Property(env, filter, "filterKey"), Property(env, filter, "filter"));
    cambium_options_set_compaction_filter(options_, own->get());
    borrowed_.push_back(std::move(own));
    has_filter_ = true;
  }
  if (const napi_value log = Property(env, spec, "log"); !IsNothing(env, log)) {
    if (const napi_value write = Property(env, log, "write"); IsNothing(env, write)) {
      cambium_logger_t* const none = cambium_logger_create_null_logger();
      cambium_options_set_info_log(options_, none);
      cambium_logger_destroy(none);
    } else {
      auto own = std::make_shared<Logger>(
          env, static_cast<int>(ToNumber(env, Property(env, log, "level"), "the level of the log")), write);
      cambium_options_set_info_log(options_, own->get());
      borrowed_.push_back(std::move(own));
    }
  }
  if (const napi_value emit = Property(env, spec, "emit"); !IsNothing(env, emit)) {
    const Listener listener(env, emit);
    cambium_options_add_eventlistener(options_, listener.get());
  }
  if (const napi_value limiter = Property(env, spec, "rateLimiter"); !IsNothing(env, limiter)) {
    cambium_options_set_ratelimiter(options_, Args::ToObject<RateLimiter>(env, limiter)->limiter);
  }
  if (const napi_value manager = Property(env, spec, "writeBufferManager"); !IsNothing(env, manager)) {
    cambium_options_set_write_buffer_manager(options_, Args::ToObject<WriteBufferManager>(env, manager)->manager);
  }
  if (const napi_value level = Property(env, spec, "statistics"); !IsNothing(env, level)) {
    cambium_options_enable_statistics(options_);
    cambium_options_set_statistics_level(options_, static_cast<int>(ToNumber(env, level, "statistics")));
  }

  Error error;
  const std::string text = ToName(env, Property(env, spec, "text"), "the text of options");
  cambium_get_options_from_string(options_, text.c_str(), options_, error.Out());
  error.Throw();
  static_cast<void>(made.release());
}

Options::~Options() { cambium_options_destroy(options_); }

NamedOptions::NamedOptions(napi_env env, napi_value list) {
  std::uint32_t length = 0;
  Check(env, napi_get_array_length(env, list, &length));
  for (std::uint32_t i = 0; i < length; ++i) {
    napi_value pair = nullptr;
    napi_value name = nullptr;
    napi_value spec = nullptr;
    Check(env, napi_get_element(env, list, i, &pair));
    Check(env, napi_get_element(env, pair, 0, &name));
    Check(env, napi_get_element(env, pair, 1, &spec));
    names.push_back(ToName(env, name, "the name of a column family"));
    options.push_back(std::make_shared<Options>(env, spec));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    c_names.push_back(names[i].c_str());
    c_options.push_back(options[i]->get());
  }
}

ReadOptions::ReadOptions(std::uint32_t flags, const cambium_snapshot_t* snapshot)
    : options_(cambium_readoptions_create()) {
  if ((flags & kSkipChecksums) != 0) cambium_readoptions_set_verify_checksums(options_, 0);
  if ((flags & kSkipCache) != 0) cambium_readoptions_set_fill_cache(options_, 0);
  if ((flags & kNoAsyncIo) != 0) cambium_readoptions_set_async_io(options_, 0);
  if ((flags & kDurableOnly) != 0) cambium_readoptions_set_durable_only(options_, 1);
  if ((flags & kPinMappedValues) != 0) cambium_readoptions_set_pin_mapped_values(options_, 1);
  if ((flags & kKeysOnly) != 0) cambium_readoptions_set_allow_unprepared_value(options_, 1);
  if (snapshot != nullptr) cambium_readoptions_set_snapshot(options_, snapshot);
}

WriteOptions::WriteOptions(std::uint32_t flags) : options_(cambium_writeoptions_create()) {
  if ((flags & kSync) != 0) cambium_writeoptions_set_sync(options_, 1);
  if ((flags & kNoSlowdown) != 0) cambium_writeoptions_set_no_slowdown(options_, 1);
  if ((flags & kDisableWal) != 0) cambium_writeoptions_disable_WAL(options_, 1);
}

namespace {

napi_value NewRateLimiter(const Args& args) {
  return Wrap(args.env(), std::make_shared<RateLimiter>(
                              static_cast<std::int64_t>(ToUint64(args.env(), args[0], "bytesPerSecond")),
                              static_cast<std::int64_t>(ToUint64(args.env(), args[1], "refillPeriodMicros")),
                              static_cast<std::int32_t>(args.Uint32(2))));
}
napi_value RateLimiterRate(const Args& args) {
  return FromNumber(args.env(),
                    static_cast<double>(cambium_ratelimiter_get_bytes_per_second(args.Get<RateLimiter>(0)->limiter)));
}
napi_value RateLimiterSetRate(const Args& args) {
  Error error;
  cambium_ratelimiter_set_bytes_per_second(args.Get<RateLimiter>(0)->limiter,
                                           static_cast<std::int64_t>(ToUint64(args.env(), args[1], "bytesPerSecond")),
                                           error.Out());
  error.Throw();
  return Undefined(args.env());
}

napi_value NewWriteBufferManager(const Args& args) {
  return Wrap(args.env(),
              std::make_shared<WriteBufferManager>(ToUint64(args.env(), args[0], "bufferSize"), args.Bool(1)));
}
napi_value WriteBufferManagerInfo(const Args& args) {
  const cambium_write_buffer_manager_t* const manager = args.Get<WriteBufferManager>(0)->manager;
  napi_value info = nullptr;
  Check(args.env(), napi_create_object(args.env(), &info));
  const auto set = [&](const char* name, std::size_t value) {
    Check(args.env(),
          napi_set_named_property(args.env(), info, name, FromNumber(args.env(), static_cast<double>(value))));
  };
  set("bufferSize", cambium_write_buffer_manager_buffer_size(manager));
  set("memoryUsage", cambium_write_buffer_manager_memory_usage(manager));
  set("mutableMemtableMemoryUsage", cambium_write_buffer_manager_mutable_memtable_memory_usage(manager));
  set("enabled", cambium_write_buffer_manager_enabled(manager));
  return info;
}
napi_value WriteBufferManagerSetSize(const Args& args) {
  cambium_write_buffer_manager_set_buffer_size(args.Get<WriteBufferManager>(0)->manager,
                                               ToUint64(args.env(), args[1], "bufferSize"));
  return Undefined(args.env());
}
napi_value WriteBufferManagerSetAllowStall(const Args& args) {
  cambium_write_buffer_manager_set_allow_stall(args.Get<WriteBufferManager>(0)->manager, args.Bool(1) ? 1 : 0);
  return Undefined(args.env());
}

}  // namespace

void ExportLimits(napi_env env, napi_value exports) {
  Export<NewRateLimiter>(env, exports, "newRateLimiter");
  Export<RateLimiterRate>(env, exports, "rateLimiterRate");
  Export<RateLimiterSetRate>(env, exports, "rateLimiterSetRate");
  Export<NewWriteBufferManager>(env, exports, "newWriteBufferManager");
  Export<WriteBufferManagerInfo>(env, exports, "writeBufferManagerInfo");
  Export<WriteBufferManagerSetSize>(env, exports, "writeBufferManagerSetSize");
  Export<WriteBufferManagerSetAllowStall>(env, exports, "writeBufferManagerSetAllowStall");
}

}  // namespace cambium_node
