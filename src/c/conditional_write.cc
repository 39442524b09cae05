#include "c/reading.h"
#include "c/transactions.h"
#include "cambium/conditional_write.h"

using cambium::ColumnFamilyHandle;
using cambium::PinnableSlice;
using cambium::SequenceNumber;
using cambium::Slice;
using cambium::Status;
using cambium::WriteBatch;
using cambium::WriteConditions;
using cambium::c::FamilyArgument;
using cambium::c::Guarded;

struct cambium_writeconditions_t {
  WriteConditions rep;
  Status refused;  // the first condition that has no family
};

namespace {

// Calls `write` with the family. `write` sets a flag if it has written; this returns the flag.
template <typename Write>
unsigned char WriteOne(const FamilyArgument& family, char** errptr, Write write) {
  bool written = false;
  Guarded(errptr, [&] {
    return family.Do([&](ColumnFamilyHandle* handle) { return write(handle, &written); });
  });
  return written ? 1 : 0;
}

unsigned char PutIfAbsent(cambium_t* db, const cambium_writeoptions_t* options, const FamilyArgument& family, Slice key,
                          Slice value, char** errptr) {
  return WriteOne(family, errptr, [&](ColumnFamilyHandle* handle, bool* written) {
    return cambium::PutIfAbsent(db->rep.get(), options->rep, handle, key, value, written);
  });
}

unsigned char CompareAndSet(cambium_t* db, const cambium_writeoptions_t* options, const FamilyArgument& family,
                            Slice key, Slice expected, Slice value, char** errptr) {
  return WriteOne(family, errptr, [&](ColumnFamilyHandle* handle, bool* written) {
    return cambium::CompareAndSet(db->rep.get(), options->rep, handle, key, expected, value, written);
  });
}

unsigned char CompareAndDelete(cambium_t* db, const cambium_writeoptions_t* options, const FamilyArgument& family,
                               Slice key, Slice expected, char** errptr) {
  return WriteOne(family, errptr, [&](ColumnFamilyHandle* handle, bool* written) {
    return cambium::CompareAndDelete(db->rep.get(), options->rep, handle, key, expected, written);
  });
}

char* GetWithVersion(cambium_t* db, const cambium_readoptions_t* options, const FamilyArgument& family, Slice key,
                     std::size_t* value_length, std::uint64_t* version, char** errptr) {
  SequenceNumber found = 0;
  const auto get = [&](PinnableSlice* value) {
    return family.Do([&](ColumnFamilyHandle* handle) {
      Status s = cambium::GetWithVersion(db->rep.get(), options->rep, handle, key, value->GetSelf(), &found);
      if (s.ok()) value->PinSelf();
      return s;
    });
  };
  char* const copy = cambium::c::CopyOf(get, value_length, errptr);
  *version = copy == nullptr ? 0 : found;
  return copy;
}

unsigned char PutIfUnchanged(cambium_t* db, const cambium_writeoptions_t* options, const FamilyArgument& family,
                             Slice key, std::uint64_t version, Slice value, char** errptr) {
  return WriteOne(family, errptr, [&](ColumnFamilyHandle* handle, bool* written) {
    return cambium::PutIfUnchanged(db->rep.get(), options->rep, handle, key, version, value, written);
  });
}

unsigned char DeleteIfUnchanged(cambium_t* db, const cambium_writeoptions_t* options, const FamilyArgument& family,
                                Slice key, std::uint64_t version, char** errptr) {
  return WriteOne(family, errptr, [&](ColumnFamilyHandle* handle, bool* written) {
    return cambium::DeleteIfUnchanged(db->rep.get(), options->rep, handle, key, version, written);
  });
}

// Calls `add` with the family to add a condition; notes an error if the family is missing.
template <typename Add>
void AddTo(cambium_writeconditions_t* conditions, const FamilyArgument& family, Add add) {
  const Status s = family.Do([&](ColumnFamilyHandle* handle) {
    add(handle);
    return Status::OK();
  });
  if (conditions->refused.ok()) conditions->refused = s;
}

}  // namespace

unsigned char cambium_put_if_absent(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                    size_t key_length, const char* value, size_t value_length, char** errptr) {
  return PutIfAbsent(db, options, FamilyArgument(), Slice(key, key_length), Slice(value, value_length), errptr);
}
unsigned char cambium_put_if_absent_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                       cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                       const char* value, size_t value_length, char** errptr) {
  return PutIfAbsent(db, options, FamilyArgument(family), Slice(key, key_length), Slice(value, value_length), errptr);
}

unsigned char cambium_compare_and_set(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                      size_t key_length, const char* expected, size_t expected_length,
                                      const char* value, size_t value_length, char** errptr) {
  return CompareAndSet(db, options, FamilyArgument(), Slice(key, key_length), Slice(expected, expected_length),
                       Slice(value, value_length), errptr);
}
unsigned char cambium_compare_and_set_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                         cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                         const char* expected, size_t expected_length, const char* value,
                                         size_t value_length, char** errptr) {
  return CompareAndSet(db, options, FamilyArgument(family), Slice(key, key_length), Slice(expected, expected_length),
                       Slice(value, value_length), errptr);
}

unsigned char cambium_compare_and_delete(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                         size_t key_length, const char* expected, size_t expected_length,
                                         char** errptr) {
  return CompareAndDelete(db, options, FamilyArgument(), Slice(key, key_length), Slice(expected, expected_length),
                          errptr);
}
unsigned char cambium_compare_and_delete_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                            cambium_column_family_handle_t* family, const char* key,
                                            size_t key_length, const char* expected, size_t expected_length,
                                            char** errptr) {
  return CompareAndDelete(db, options, FamilyArgument(family), Slice(key, key_length),
                          Slice(expected, expected_length), errptr);
}

char* cambium_get_with_version(cambium_t* db, const cambium_readoptions_t* options, const char* key, size_t key_length,
                               size_t* value_length, uint64_t* version, char** errptr) {
  return GetWithVersion(db, options, FamilyArgument(), Slice(key, key_length), value_length, version, errptr);
}
char* cambium_get_with_version_cf(cambium_t* db, const cambium_readoptions_t* options,
                                  cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                  size_t* value_length, uint64_t* version, char** errptr) {
  return GetWithVersion(db, options, FamilyArgument(family), Slice(key, key_length), value_length, version, errptr);
}

unsigned char cambium_put_if_unchanged(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                       size_t key_length, uint64_t version, const char* value, size_t value_length,
                                       char** errptr) {
  return PutIfUnchanged(db, options, FamilyArgument(), Slice(key, key_length), version, Slice(value, value_length),
                        errptr);
}
unsigned char cambium_put_if_unchanged_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                          cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                          uint64_t version, const char* value, size_t value_length, char** errptr) {
  return PutIfUnchanged(db, options, FamilyArgument(family), Slice(key, key_length), version,
                        Slice(value, value_length), errptr);
}

unsigned char cambium_delete_if_unchanged(cambium_t* db, const cambium_writeoptions_t* options, const char* key,
                                          size_t key_length, uint64_t version, char** errptr) {
  return DeleteIfUnchanged(db, options, FamilyArgument(), Slice(key, key_length), version, errptr);
}
unsigned char cambium_delete_if_unchanged_cf(cambium_t* db, const cambium_writeoptions_t* options,
                                             cambium_column_family_handle_t* family, const char* key,
                                             size_t key_length, uint64_t version, char** errptr) {
  return DeleteIfUnchanged(db, options, FamilyArgument(family), Slice(key, key_length), version, errptr);
}

cambium_writeconditions_t* cambium_writeconditions_create() { return new cambium_writeconditions_t; }
void cambium_writeconditions_destroy(cambium_writeconditions_t* conditions) { delete conditions; }
void cambium_writeconditions_clear(cambium_writeconditions_t* conditions) {
  conditions->rep.Clear();
  conditions->refused = Status::OK();
}

void cambium_writeconditions_is_absent(cambium_writeconditions_t* conditions, const char* key, size_t key_length) {
  conditions->rep.IsAbsent(Slice(key, key_length));
}
void cambium_writeconditions_is_absent_cf(cambium_writeconditions_t* conditions,
                                          cambium_column_family_handle_t* family, const char* key, size_t key_length) {
  AddTo(conditions, FamilyArgument(family),
        [&](ColumnFamilyHandle* handle) { conditions->rep.IsAbsent(handle, Slice(key, key_length)); });
}
void cambium_writeconditions_has_value(cambium_writeconditions_t* conditions, const char* key, size_t key_length,
                                       const char* value, size_t value_length) {
  conditions->rep.HasValue(Slice(key, key_length), Slice(value, value_length));
}
void cambium_writeconditions_has_value_cf(cambium_writeconditions_t* conditions,
                                          cambium_column_family_handle_t* family, const char* key, size_t key_length,
                                          const char* value, size_t value_length) {
  AddTo(conditions, FamilyArgument(family), [&](ColumnFamilyHandle* handle) {
    conditions->rep.HasValue(handle, Slice(key, key_length), Slice(value, value_length));
  });
}

void cambium_writeconditions_is_unchanged(cambium_writeconditions_t* conditions, const char* key, size_t key_length,
                                          uint64_t version) {
  conditions->rep.IsUnchanged(Slice(key, key_length), version);
}
void cambium_writeconditions_is_unchanged_cf(cambium_writeconditions_t* conditions,
                                             cambium_column_family_handle_t* family, const char* key,
                                             size_t key_length, uint64_t version) {
  AddTo(conditions, FamilyArgument(family), [&](ColumnFamilyHandle* handle) {
    conditions->rep.IsUnchanged(handle, Slice(key, key_length), version);
  });
}

unsigned char cambium_write_if(cambium_t* db, const cambium_writeoptions_t* options,
                               const cambium_writeconditions_t* conditions, cambium_writebatch_t* batch,
                               char** errptr) {
  return WriteOne(FamilyArgument(), errptr, [&](ColumnFamilyHandle*, bool* written) {
    if (conditions == nullptr) return Status::InvalidArgument("the conditions are null");
    if (!conditions->refused.ok()) return conditions->refused;
    return cambium::WriteIf(db->rep.get(), options->rep, conditions->rep, batch == nullptr ? nullptr : &batch->rep,
                            written);
  });
}
