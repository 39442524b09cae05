#include "engines/rocksdb11_library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace cambium::bench {
namespace {

#if defined(__aarch64__)
constexpr const char* kFileName = "librocksdbjni-linux-aarch64.so";
#else
constexpr const char* kFileName = "librocksdbjni-linux64.so";
#endif

constexpr int kVersionMin = 11;

// The C interface does not tell the version, but this function of the Java interface does. It uses neither argument.
using VersionFunction = std::int32_t (*)(void* environment, void* of_class);
constexpr const char* kVersionName = "Java_org_rocksdb_RocksDB_version";

std::string ErrorOfLoader() {
  const char* const text = ::dlerror();
  return text == nullptr ? "it cannot be loaded" : text;
}

template <typename Function>
bool Find(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(::dlsym(handle, name));
  return *function != nullptr;
}

struct Loaded {
  RocksDb11Library library;
  std::string refusal;

  Loaded() {
    const char* const path = std::getenv(kRocksDb11Variable);
    const bool is_named = path != nullptr && *path != '\0';
    refusal = LoadRocksDb11(is_named ? path : kFileName, &library);
    if (refusal.empty()) return;
    refusal += std::string(" (") + kRocksDb11Variable + (is_named ? "=" + std::string(path) : " is not set") + ")";
  }
};

const Loaded& Load() {
  static const Loaded kLoaded;
  return kLoaded;
}

}  // namespace

Status RocksDb11Library::Take(char* error) const {
  if (error == nullptr) return {};
  const std::string text = error;
  free_(error);
  return text.starts_with("Corruption") ? Status::Corruption(text) : Status::IOError(text);
}

// The process may hold another RocksDB, and codecs of other versions, all with the same names of functions. So the
// loader binds the library to its own names first (RTLD_DEEPBIND), and binds no other library to them (RTLD_LOCAL). It
// is never unloaded, since its threads may run until the process ends.
std::string LoadRocksDb11(const char* path, RocksDb11Library* library) {
  void* const handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND | RTLD_NODELETE);
  if (handle == nullptr) return ErrorOfLoader();
  VersionFunction version = nullptr;
  if (!Find(handle, kVersionName, &version)) return std::string("the library has no ") + kVersionName;
  const std::int32_t number = version(nullptr, nullptr);  // a byte each: major, minor, patch
  const auto part = [number](int shift) { return std::to_string((number >> shift) & 0xff); };
  library->version = part(16) + "." + part(8) + "." + part(0);
  if ((number >> 16) < kVersionMin) {
    return "the library is RocksDB " + library->version + ", and " + std::to_string(kVersionMin) +
           " or later is needed";
  }
  std::string missing;
#define CAMBIUM_FIND(name, result, parameters) \
  if (!Find(handle, "rocksdb_" #name, &library->name##_)) missing += " rocksdb_" #name;
  CAMBIUM_ROCKSDB11_FUNCTIONS(CAMBIUM_FIND)
#undef CAMBIUM_FIND
  return missing.empty() ? "" : "the library has no" + missing;
}

std::string RefuseRocksDb11() { return Load().refusal; }

const RocksDb11Library& RocksDb11() { return Load().library; }

}  // namespace cambium::bench
