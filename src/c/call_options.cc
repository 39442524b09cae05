// Options of single calls.
#include "c/wrappers.h"

using cambium::Slice;
using cambium::c::ToEnum;
using cambium::c::Truth;

#define CAMBIUM_C_LIFE(type)                                          \
  cambium_##type##_t* cambium_##type##_create() { return new cambium_##type##_t; } \
  void cambium_##type##_destroy(cambium_##type##_t* options) { delete options; }
#define CAMBIUM_C_BOOL(type, name)                                                                             \
  void cambium_##type##_set_##name(cambium_##type##_t* options, unsigned char value) {                         \
    options->rep.name = value != 0;                                                                            \
  }                                                                                                            \
  unsigned char cambium_##type##_get_##name(const cambium_##type##_t* options) { return Truth(options->rep.name); }

CAMBIUM_C_LIFE(readoptions)
CAMBIUM_C_BOOL(readoptions, verify_checksums)
CAMBIUM_C_BOOL(readoptions, allow_unprepared_value)
CAMBIUM_C_BOOL(readoptions, async_io)
CAMBIUM_C_BOOL(readoptions, durable_only)
CAMBIUM_C_BOOL(readoptions, fill_cache)
CAMBIUM_C_BOOL(readoptions, pin_mapped_values)

CAMBIUM_C_LIFE(writeoptions)
CAMBIUM_C_BOOL(writeoptions, sync)
CAMBIUM_C_BOOL(writeoptions, no_slowdown)

CAMBIUM_C_LIFE(flushoptions)
CAMBIUM_C_BOOL(flushoptions, wait)

CAMBIUM_C_LIFE(compactoptions)
CAMBIUM_C_BOOL(compactoptions, cluster_values)

#undef CAMBIUM_C_LIFE
#undef CAMBIUM_C_BOOL

void cambium_readoptions_set_snapshot(cambium_readoptions_t* options, const cambium_snapshot_t* snapshot) {
  options->rep.snapshot = reinterpret_cast<const cambium::Snapshot*>(snapshot);
}

namespace {

void SetBound(const char* key, size_t key_length, std::string* bytes, Slice* slice, const Slice** bound) {
  *bound = nullptr;
  if (key == nullptr) return;
  bytes->assign(key, key_length);
  *slice = *bytes;
  *bound = slice;
}

}  // namespace

void cambium_readoptions_set_iterate_lower_bound(cambium_readoptions_t* options, const char* key, size_t key_length) {
  SetBound(key, key_length, &options->lower, &options->lower_slice, &options->rep.iterate_lower_bound);
}
void cambium_readoptions_set_iterate_upper_bound(cambium_readoptions_t* options, const char* key, size_t key_length) {
  SetBound(key, key_length, &options->upper, &options->upper_slice, &options->rep.iterate_upper_bound);
}

void cambium_writeoptions_disable_WAL(cambium_writeoptions_t* options, int value) {
  options->rep.disableWAL = value != 0;
}
unsigned char cambium_writeoptions_get_disable_WAL(const cambium_writeoptions_t* options) {
  return Truth(options->rep.disableWAL);
}

void cambium_compactoptions_set_blob_garbage_collection_policy(cambium_compactoptions_t* options, int value) {
  options->rep.blob_garbage_collection_policy = ToEnum<cambium::BlobGarbageCollectionPolicy>(value);
}
int cambium_compactoptions_get_blob_garbage_collection_policy(const cambium_compactoptions_t* options) {
  return static_cast<int>(options->rep.blob_garbage_collection_policy);
}
void cambium_compactoptions_set_blob_garbage_collection_age_cutoff(cambium_compactoptions_t* options, double value) {
  options->rep.blob_garbage_collection_age_cutoff = value;
}
double cambium_compactoptions_get_blob_garbage_collection_age_cutoff(const cambium_compactoptions_t* options) {
  return options->rep.blob_garbage_collection_age_cutoff;
}
