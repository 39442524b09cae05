#include "c/open.h"
#include "c/wrappers.h"

using cambium::ColumnFamilyDescriptor;
using cambium::ColumnFamilyHandle;
using cambium::DB;
using cambium::Status;
using cambium::c::CopyBytes;
using cambium::c::CopyStrings;
using cambium::c::DescribeFamilies;
using cambium::c::Guarded;
using cambium::c::LogHints;
using cambium::c::OpenFamiliesBy;
using cambium::c::RepOf;

namespace {

using OpenFamilies = Status (*)(const cambium::DBOptions&, const std::string&,
                                const std::vector<ColumnFamilyDescriptor>&, std::vector<ColumnFamilyHandle*>*,
                                std::unique_ptr<DB>*);

}  // namespace

Status cambium::c::DescribeFamilies(int count, const char* const* names, const cambium_options_t* const* options,
                                    std::vector<ColumnFamilyDescriptor>* families) {
  if (count < 0) return Status::InvalidArgument("the number of column families is " + std::to_string(count));
  for (int i = 0; i < count; ++i) families->emplace_back(names[i], options[i]->rep);
  return Status::OK();
}

cambium_t* cambium_open_column_families(const cambium_options_t* options, const char* name, int num_column_families,
                                        const char* const* column_family_names,
                                        const cambium_options_t* const* column_family_options,
                                        cambium_column_family_handle_t** column_family_handles, char** errptr) {
  return OpenFamiliesBy(OpenFamilies{&DB::Open}, options, name, num_column_families, column_family_names,
                        column_family_options, column_family_handles, errptr);
}

cambium_t* cambium_open_for_read_only_column_families(const cambium_options_t* options, const char* name,
                                                      int num_column_families, const char* const* column_family_names,
                                                      const cambium_options_t* const* column_family_options,
                                                      cambium_column_family_handle_t** column_family_handles,
                                                      char** errptr) {
  return OpenFamiliesBy(OpenFamilies{&DB::OpenForReadOnly}, options, name, num_column_families, column_family_names,
                        column_family_options, column_family_handles, errptr);
}

char** cambium_list_column_families(const cambium_options_t* options, const char* name, size_t* num, char** errptr) {
  *num = 0;
  char** list = nullptr;
  Guarded(errptr, [&] {
    std::vector<std::string> names;
    Status listed = DB::ListColumnFamilies(options->rep, name, &names);
    if (listed.ok()) {
      list = CopyStrings(names);
      *num = names.size();
    }
    return listed;
  });
  return list;
}

void cambium_list_column_families_destroy(char** list, size_t num) { cambium_string_list_destroy(list, num); }

cambium_column_family_handle_t* cambium_create_column_family(cambium_t* db, const cambium_options_t* options,
                                                             const char* name, char** errptr) {
  cambium_column_family_handle_t* handle = nullptr;
  Guarded(errptr, [&]() -> Status {
    auto made = std::make_unique<cambium_column_family_handle_t>();
    made->db = db->rep.get();
    if (Status status = db->rep->CreateColumnFamily(options->rep, name, &made->rep); !status.ok()) return status;
    LogHints(*options, made->db);
    handle = made.release();
    return Status::OK();
  });
  return handle;
}

void cambium_drop_column_family(cambium_t* db, cambium_column_family_handle_t* handle, char** errptr) {
  Guarded(errptr, [&] { return db->rep->DropColumnFamily(RepOf(handle)); });
}

cambium_column_family_handle_t* cambium_get_default_column_family_handle(cambium_t* db) {
  return new cambium_column_family_handle_t{db->rep->DefaultColumnFamily(), nullptr};
}

void cambium_column_family_handle_destroy(cambium_column_family_handle_t* handle) {
  if (handle == nullptr) return;
  if (handle->db != nullptr) static_cast<void>(handle->db->DestroyColumnFamilyHandle(handle->rep));
  delete handle;
}

uint32_t cambium_column_family_handle_get_id(const cambium_column_family_handle_t* handle) {
  return handle->rep->GetID();
}

char* cambium_column_family_handle_get_name(const cambium_column_family_handle_t* handle, size_t* name_length) {
  *name_length = handle->rep->GetName().size();
  return CopyBytes(handle->rep->GetName());
}
