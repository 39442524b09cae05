#include "cambium/trace.h"

#include "c/wrappers.h"

using cambium::c::Guarded;
using cambium::c::Truth;

cambium_traceoptions_t* cambium_traceoptions_create() { return new cambium_traceoptions_t; }
void cambium_traceoptions_destroy(cambium_traceoptions_t* options) { delete options; }

#define CAMBIUM_C_NUMBER(name)                                                                       \
  void cambium_traceoptions_set_##name(cambium_traceoptions_t* options, uint64_t value) {            \
    options->rep.name = value;                                                                       \
  }                                                                                                  \
  uint64_t cambium_traceoptions_get_##name(const cambium_traceoptions_t* options) { return options->rep.name; }
#define CAMBIUM_C_BOOL(name)                                                                         \
  void cambium_traceoptions_set_##name(cambium_traceoptions_t* options, unsigned char value) {       \
    options->rep.name = value != 0;                                                                  \
  }                                                                                                  \
  unsigned char cambium_traceoptions_get_##name(const cambium_traceoptions_t* options) {             \
    return Truth(options->rep.name);                                                                 \
  }

CAMBIUM_C_NUMBER(max_trace_file_size)
CAMBIUM_C_NUMBER(sampling_frequency)
CAMBIUM_C_NUMBER(filter)
CAMBIUM_C_BOOL(preserve_write_order)
CAMBIUM_C_BOOL(include_values)

#undef CAMBIUM_C_NUMBER
#undef CAMBIUM_C_BOOL

void cambium_start_trace(cambium_t* db, const cambium_traceoptions_t* options, const char* path, char** errptr) {
  Guarded(errptr, [&] { return db->rep->StartTrace(options->rep, path); });
}
void cambium_end_trace(cambium_t* db, char** errptr) {
  Guarded(errptr, [&] { return db->rep->EndTrace(); });
}
