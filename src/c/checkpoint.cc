#include "cambium/checkpoint.h"

#include "c/wrappers.h"

using cambium::Status;
using cambium::c::Guarded;

struct cambium_checkpoint_t {
  std::unique_ptr<cambium::Checkpoint> rep;
};

cambium_checkpoint_t* cambium_checkpoint_object_create(cambium_t* db, char** errptr) {
  std::unique_ptr<cambium_checkpoint_t> checkpoint;
  Guarded(errptr, [&] {
    checkpoint = std::make_unique<cambium_checkpoint_t>();
    Status made = cambium::Checkpoint::Create(db->rep.get(), &checkpoint->rep);
    if (!made.ok()) checkpoint.reset();
    return made;
  });
  return checkpoint.release();
}
void cambium_checkpoint_create(cambium_checkpoint_t* checkpoint, const char* directory, uint64_t log_size_for_flush,
                               char** errptr) {
  Guarded(errptr, [&] { return checkpoint->rep->CreateCheckpoint(directory, log_size_for_flush); });
}
void cambium_checkpoint_object_destroy(cambium_checkpoint_t* checkpoint) { delete checkpoint; }

void cambium_checkpoint_offline(const cambium_options_t* options, const char* name, const char* directory,
                                char** errptr) {
  Guarded(errptr, [&] { return cambium::CheckpointOffline(options->rep, name, directory); });
}
