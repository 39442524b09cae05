// Column families.
#include "rocksdb_c/objects.h"
#include "rocksdb_c/prefix.h"

using namespace cambium::rocks;
using cambium::DB;
using cambium::Options;
using cambium::Status;

namespace {

Status Create(rocksdb_t* db, const rocksdb_options_t& options, const std::vector<std::string>& names,
              std::vector<rocksdb_column_family_handle_t*>* handles) {
  std::vector<std::string> hints;
  Options its;
  CAMBIUM_RETURN_IF_ERROR(ToCambium(options, db->rep->GetName(), &its, &hints));
  its.blob_file_size = db->rep->GetOptions().blob_file_size;  // all families share one log
  std::vector<std::unique_ptr<rocksdb_column_family_handle_t>> wrapped;
  for (std::size_t i = 0; i < names.size(); ++i) wrapped.push_back(std::make_unique<rocksdb_column_family_handle_t>());
  std::vector<cambium::ColumnFamilyHandle*> made;
  CAMBIUM_RETURN_IF_ERROR(db->rep->CreateColumnFamilies(its, names, &made));
  for (std::size_t i = 0; i < made.size(); ++i) {
    wrapped[i]->rep = made[i];
    wrapped[i]->db = db->rep;
    wrapped[i]->prefix_extractor = options.prefix_extractor;
    handles->push_back(wrapped[i].release());
  }
  return Status::OK();
}

}  // namespace

extern "C" {

char** rocksdb_list_column_families(const rocksdb_options_t* /*options*/, const char* name, size_t* count,
                                    char** errptr) {
  *count = 0;
  char** list = nullptr;
  Guarded(errptr, [&] {
    std::vector<std::string> names;
    Status listed = DB::ListColumnFamilies({}, name, &names);
    if (listed.ok()) {
      list = CopyStrings(names);
      *count = names.size();
    }
    return listed;
  });
  return list;
}
void rocksdb_list_column_families_destroy(char** list, size_t count) { cambium_string_list_destroy(list, count); }

rocksdb_column_family_handle_t* rocksdb_create_column_family(rocksdb_t* db, const rocksdb_options_t* options,
                                                             const char* name, char** errptr) {
  std::vector<rocksdb_column_family_handle_t*> handles;
  Guarded(errptr, [&] { return Create(db, *options, {name}, &handles); });
  return handles.empty() ? nullptr : handles.front();
}
rocksdb_column_family_handle_t** rocksdb_create_column_families(rocksdb_t* db, const rocksdb_options_t* options,
                                                                int count, const char* const* names, size_t* made,
                                                                char** errptr) {
  std::vector<rocksdb_column_family_handle_t*> handles;
  Guarded(errptr, [&] { return Create(db, *options, std::vector<std::string>(names, names + count), &handles); });
  *made = handles.size();
  auto* const list = new rocksdb_column_family_handle_t*[handles.size()];
  std::ranges::copy(handles, list);
  return list;
}
void rocksdb_create_column_families_destroy(rocksdb_column_family_handle_t** list) { delete[] list; }
rocksdb_column_family_handle_t* rocksdb_create_column_family_with_ttl(rocksdb_t* /*db*/,
                                                                      const rocksdb_options_t* /*options*/,
                                                                      const char* /*name*/, int /*ttl*/,
                                                                      char** errptr) {
  return Lack(errptr, "expiry (create_column_family_with_ttl)");
}
void rocksdb_drop_column_family(rocksdb_t* db, rocksdb_column_family_handle_t* family, char** errptr) {
  Guarded(errptr, [&] { return db->rep->DropColumnFamily(RepOf(family)); });
}

rocksdb_column_family_handle_t* rocksdb_get_default_column_family_handle(rocksdb_t* db) {
  return new rocksdb_column_family_handle_t{db->rep->DefaultColumnFamily(), {}, db->prefix_extractor};
}
void rocksdb_column_family_handle_destroy(rocksdb_column_family_handle_t* family) {
  if (family == nullptr) return;
  if (const std::shared_ptr<DB> db = family->db.lock(); db != nullptr) {
    static_cast<void>(db->DestroyColumnFamilyHandle(family->rep));
  }
  delete family;
}
uint32_t rocksdb_column_family_handle_get_id(rocksdb_column_family_handle_t* family) { return family->rep->GetID(); }
char* rocksdb_column_family_handle_get_name(rocksdb_column_family_handle_t* family, size_t* length) {
  *length = family->rep->GetName().size();
  return CopyBytes(family->rep->GetName());
}

}  // extern "C"
