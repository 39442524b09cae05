// Reads of single keys and of several.
#include <cstring>

#include "database.h"

namespace cambium_node {

namespace {

// (database, key, isText) -> the value, or undefined. Default options, the default family.
napi_value GetDefault(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckSync(Work::kRead);
  const Bytes key(args.env(), args[1], "the key");
  std::size_t length = 0;
  Error error;
  char* const value =
      cambium_get(database->db(), database->read_options(), key.data(), key.size(), &length, error.Out());
  error.Throw();
  return value == nullptr ? Undefined(args.env()) : FromOwned(args.env(), value, length, args.Bool(2));
}

// (database, key, pool, offset) -> the number of bytes that were copied to the pool at this offset; or, if they do not
// fit, the value; or undefined. As GetDefault otherwise.
napi_value GetIntoPool(const Args& args) {
  const napi_env env = args.env();
  const auto& database = DatabaseAt(args, 0);
  database->CheckSync(Work::kRead);
  const Bytes key(env, args[1], "the key");
  bool is_buffer = false;
  Check(env, napi_is_buffer(env, args[2], &is_buffer));
  if (!is_buffer) throw WrongType{"the pool must be a Buffer"};
  void* pool = nullptr;
  std::size_t pool_size = 0;
  Check(env, napi_get_buffer_info(env, args[2], &pool, &pool_size));
  const std::size_t offset = args.Uint32(3);
  std::size_t length = 0;
  Error error;
  char* const value =
      cambium_get(database->db(), database->read_options(), key.data(), key.size(), &length, error.Out());
  error.Throw();
  if (value == nullptr) return Undefined(env);
  if (offset > pool_size || length > pool_size - offset) return FromOwned(env, value, length, false);
  std::memcpy(static_cast<char*>(pool) + offset, value, length);
  cambium_free(value);
  return FromNumber(env, static_cast<double>(length));
}

struct Owned {
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { cambium_free(data); }
  char* data = nullptr;
  std::size_t size = 0;
};

// (isSync, database, family, key, flags, snapshot, isText) -> the value, or undefined
napi_value Get(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string key = args.CopyBytes(3, "the key");
  const std::uint32_t flags = args.Uint32(4);
  const auto snapshot = SnapshotAt(args, 5, *database);
  const bool is_text = args.Bool(6);
  auto value = std::make_shared<Owned>();
  Core* const core = &database->core();
  return PerformOn(
      args.env(), args.Bool(0), "cambium:get", database, Work::kRead,
      [=](Error* error) {
        const ReadOptions options(flags, snapshot == nullptr ? nullptr : snapshot->get());
        if ((flags & kPinMappedValues) == 0) {
          value->data = cambium_get_cf(core->db(), options.get(), family->handle(), key.data(), key.size(),
                                       &value->size, error->Out());
          return;
        }
        // A value in a mapped file is copied once, from there.
        cambium_pinnableslice_t* const slice =
            cambium_get_pinned_cf(core->db(), options.get(), family->handle(), key.data(), key.size(), error->Out());
        if (slice == nullptr) return;
        std::size_t size = 0;
        const char* const bytes = cambium_pinnableslice_value(slice, &size);
        value->data = static_cast<char*>(std::malloc(size > 0 ? size : 1));
        if (value->data != nullptr && size > 0) std::memcpy(value->data, bytes, size);
        value->size = size;
        cambium_pinnableslice_destroy(slice);
        if (value->data == nullptr) error->Set("Operation aborted: out of memory");
      },
      [=](napi_env env) {
        if (value->data == nullptr) return Undefined(env);
        return FromOwned(env, std::exchange(value->data, nullptr), value->size, is_text);
      });
}

struct Many {
  explicit Many(std::size_t count) : values(count), lengths(count), errors(count) {}
  Many(const Many&) = delete;
  Many& operator=(const Many&) = delete;
  ~Many() {
    for (char* const value : values) cambium_free(value);
    for (char* const error : errors) cambium_free(error);
  }
  std::vector<char*> values;
  std::vector<std::size_t> lengths;
  std::vector<char*> errors;
};

// (isSync, database, families: one or an array, keys, flags, snapshot, isText) -> values or undefined
napi_value MultiGet(const Args& args) {
  const napi_env env = args.env();
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  bool is_array = false;
  Check(env, napi_is_array(env, args[3], &is_array));
  if (!is_array) throw WrongType{"the keys must be an array"};
  std::uint32_t count = 0;
  Check(env, napi_get_array_length(env, args[3], &count));
  Check(env, napi_is_array(env, args[2], &is_array));
  std::vector<std::string> keys;
  std::vector<std::shared_ptr<Family>> families;
  const auto one = is_array ? nullptr : FamilyAt(args, 2, *database);
  for (std::uint32_t i = 0; i < count; ++i) {
    napi_value element = nullptr;
    Check(env, napi_get_element(env, args[3], i, &element));
    keys.push_back(Bytes(env, element, "each key").Copy());
    if (is_array) Check(env, napi_get_element(env, args[2], i, &element));
    families.push_back(is_array ? ToFamily(env, element, *database) : one);
  }
  const std::uint32_t flags = args.Uint32(4);
  const auto snapshot = SnapshotAt(args, 5, *database);
  const bool is_text = args.Bool(6);
  auto many = std::make_shared<Many>(count);
  Core* const core = &database->core();
  return PerformOn(
      env, args.Bool(0), "cambium:multiGet", database, Work::kRead,
      [=](Error* error) {
        const ReadOptions options(flags, snapshot == nullptr ? nullptr : snapshot->get());
        std::vector<const cambium_column_family_handle_t*> handles;
        std::vector<const char*> bytes;
        std::vector<std::size_t> sizes;
        for (std::size_t i = 0; i < keys.size(); ++i) {
          handles.push_back(families[i]->handle());
          bytes.push_back(keys[i].data());
          sizes.push_back(keys[i].size());
        }
        cambium_multi_get_cf(core->db(), options.get(), handles.data(), keys.size(), bytes.data(), sizes.data(),
                             many->values.data(), many->lengths.data(), many->errors.data());
        for (const char* const text : many->errors) {
          if (text == nullptr) continue;
          error->Set(text);
          return;
        }
      },
      [=](napi_env at_end) {
        napi_value list = nullptr;
        Check(at_end, napi_create_array_with_length(at_end, many->values.size(), &list));
        for (std::size_t i = 0; i < many->values.size(); ++i) {
          // Each value would keep the handles of all others alive until the end.
          napi_handle_scope scope = nullptr;
          Check(at_end, napi_open_handle_scope(at_end, &scope));
          char* const value = std::exchange(many->values[i], nullptr);
          const napi_value element =
              value == nullptr ? Undefined(at_end) : FromOwned(at_end, value, many->lengths[i], is_text);
          Check(at_end, napi_set_element(at_end, list, static_cast<std::uint32_t>(i), element));
          Check(at_end, napi_close_handle_scope(at_end, scope));
        }
        return list;
      });
}

}  // namespace

void ExportReads(napi_env env, napi_value exports) {
  Export<GetDefault>(env, exports, "getDefault");
  Export<GetIntoPool>(env, exports, "getIntoPool");
  Export<Get>(env, exports, "get");
  Export<MultiGet>(env, exports, "multiGet");
}

}  // namespace cambium_node
