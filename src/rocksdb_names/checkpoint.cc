#include "cambium/rocksdb_names/rocksdb/utilities/checkpoint.h"

#include <utility>

#include "util/result.h"

namespace rocksdb::inline on_cambium {

Status Checkpoint::Create(DB* db, Checkpoint** checkpoint) {
  std::unique_ptr<cambium::Checkpoint> rep;
  CAMBIUM_RETURN_IF_ERROR(cambium::Checkpoint::Create(db->OnCambium(), &rep));
  *checkpoint = new Checkpoint(std::move(rep));
  return Status::OK();
}

}  // namespace rocksdb::inline on_cambium
