// Reads of single keys and of several.
#include <algorithm>
#include <cstdlib>

#include "database.h"

namespace cambium_node {

namespace {

// A value that was read. A short one takes one call of the library, and lies in the object; a longer one takes a second
// call, which copies it to memory of its own.
class Value {
 public:
  Value() = default;
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { std::free(long_); }

  // `read` is a call of cambium_get_into_buffer: (buffer, its size, length, found) -> whether the value is in the buffer.
  template <typename Read>
  void ReadBy(Read&& read, Error* error) {
    unsigned char found = 0;
    bool is_read = read(short_, sizeof short_, &size_, &found) != 0;
    while (!is_read && found != 0) {  // again only if another thread has written a longer value meanwhile
      std::free(std::exchange(long_, nullptr));
      const std::size_t room = size_;
      long_ = static_cast<char*>(std::malloc(room));
      if (long_ == nullptr) {
        error->Set("Operation aborted (out of memory)");
        return;
      }
      is_read = read(long_, room, &size_, &found) != 0;
    }
    is_there_ = found != 0;
  }
  // The value for JavaScript; undefined if there is none. Once.
  napi_value Take(napi_env env, bool is_text) {
    if (!is_there_) return Undefined(env);
    if (long_ == nullptr) return FromBytes(env, short_, size_, is_text);
    return FromOwned(env, std::exchange(long_, nullptr), size_, is_text);
  }

 private:
  bool is_there_ = false;
  std::size_t size_ = 0;
  char* long_ = nullptr;
  char short_[4096];
};

// Reads a key of the default family with default options.
auto DefaultGetter(const Database& database, const Bytes& key, Error* error) {
  return [&database, &key, error](char* buffer, std::size_t room, std::size_t* size, unsigned char* found) {
    return cambium_get_into_buffer(database.db(), database.read_options(), key.data(), key.size(), buffer, room, size,
                                   found, error->Out());
  };
}

// (database, key, isText) -> the value, or undefined. Default options, the default family.
napi_value GetDefault(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckSync(Work::kRead);
  const Bytes key(args.env(), args[1], "the key");
  Error error;
  Value value;
  value.ReadBy(DefaultGetter(*database, key, &error), &error);
  error.Throw();
  return value.Take(args.env(), args.Bool(2));
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
  const std::size_t offset = std::min<std::size_t>(args.Uint32(3), pool_size);
  std::size_t length = 0;
  unsigned char found = 0;
  Error error;
  const auto read = DefaultGetter(*database, key, &error);
  const bool is_read = read(static_cast<char*>(pool) + offset, pool_size - offset, &length, &found) != 0;
  error.Throw();
  if (is_read) return FromNumber(env, static_cast<double>(length));
  if (found == 0) return Undefined(env);
  Value value;
  value.ReadBy(read, &error);
  error.Throw();
  return value.Take(env, false);
}

// (isSync, database, family, key, flags, snapshot, isText) -> the value, or undefined
napi_value Get(const Args& args) {
  const auto& database = DatabaseAt(args, 1);
  database->CheckOpen();
  const auto family = FamilyAt(args, 2, *database);
  const std::string key = args.CopyBytes(3, "the key");
  const std::uint32_t flags = args.Uint32(4);
  const auto snapshot = SnapshotAt(args, 5, *database);
  const bool is_text = args.Bool(6);
  auto value = std::make_shared<Value>();
  Core* const core = &database->core();
  return PerformOn(
      args.env(), args.Bool(0), "cambium:get", database, Work::kRead,
      [=](Error* error) {
        const ReadOptions options(flags, snapshot == nullptr ? nullptr : snapshot->get());
        value->ReadBy(
            [&](char* buffer, std::size_t room, std::size_t* size, unsigned char* found) {
              return cambium_get_into_buffer_cf(core->db(), options.get(), family->handle(), key.data(), key.size(),
                                                buffer, room, size, found, error->Out());
            },
            error);
      },
      [=](napi_env env) { return value->Take(env, is_text); });
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
