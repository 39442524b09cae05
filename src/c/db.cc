#include "c/open.h"
#include "c/wrappers.h"

using cambium::DB;
using cambium::Slice;
using cambium::Status;
using cambium::c::CopyBytes;
using cambium::c::CopyIdentity;
using cambium::c::CopyStrings;
using cambium::c::DescribeFamilies;
using cambium::c::Guarded;
using cambium::c::KeyRange;
using cambium::c::OpenBy;
using cambium::c::RepOf;

namespace {

// Whether Close left the database open. The status of Close does not tell: it is Aborted if the database is still open,
// but also if Close failed and there was no memory for the message of its error.
bool IsOpen(DB* db) {
  std::vector<cambium::Iterator*> none;
  return !db->NewIterators({}, {}, &none).IsShutdownInProgress();
}

// Names the default family if its comparator is the caller's own. The MANIFEST names those that are the library's.
std::vector<cambium::ColumnFamilyDescriptor> NamedToVerify(const cambium_options_t& options) {
  const cambium::Comparator* const order = options.rep.comparator;
  if (order == cambium::BytewiseComparator() || order == cambium::ReverseBytewiseComparator()) return {};
  return {{cambium::kDefaultColumnFamilyName, options.rep}};
}

Status Verify(const cambium_options_t* options, const char* name,
              const std::vector<cambium::ColumnFamilyDescriptor>& families, unsigned char deep, char*** problems,
              size_t* num_problems) {
  cambium::VerifyOptions verify;
  verify.deep = deep != 0;
  cambium::VerifyReport report;
  Status made = VerifyDB(name, options->rep, families, verify, &report);
  if (const std::uint64_t more = report.problem_count - report.problems.size(); more > 0) {
    report.problems.push_back("and " + std::to_string(more) + " more");
  }
  if (made.ok() || !report.problems.empty()) {
    *problems = CopyStrings(report.problems);
    *num_problems = report.problems.size();
  }
  return made;
}

char* Property(DB* db, cambium::ColumnFamilyHandle* family, const char* name) {
  std::string value;
  return db->GetProperty(family, name, &value) ? CopyBytes(value) : nullptr;
}

}  // namespace

cambium_t* cambium_open(const cambium_options_t* options, const char* name, char** errptr) {
  return OpenBy([](auto&&... its) { return DB::Open(its...); }, options, name, errptr);
}

cambium_t* cambium_open_for_read_only(const cambium_options_t* options, const char* name, char** errptr) {
  return OpenBy([](auto&&... its) { return DB::OpenForReadOnly(its...); }, options, name, errptr);
}

void cambium_close(cambium_t* db) { delete db; }

unsigned char cambium_close_with_status(cambium_t* db, char** errptr) {
  bool is_gone = false;
  Guarded(errptr, [&] {
    Status closed = db->rep->Close();
    is_gone = !closed.IsAborted() || !IsOpen(db->rep.get());
    if (is_gone) delete db;
    return closed;
  });
  return cambium::c::Truth(is_gone);
}

void cambium_destroy_db(const cambium_options_t* options, const char* name, char** errptr) {
  Guarded(errptr, [&] { return cambium::DestroyDB(name, options->rep); });
}

void cambium_verify_db(const cambium_options_t* options, const char* name, unsigned char deep, char*** problems,
                       size_t* num_problems, char** errptr) {
  *problems = nullptr;
  *num_problems = 0;
  Guarded(errptr, [&]() -> Status {
    return Verify(options, name, NamedToVerify(*options), deep, problems, num_problems);
  });
}

void cambium_verify_db_column_families(const cambium_options_t* options, const char* name, int num_column_families,
                                       const char* const* column_family_names,
                                       const cambium_options_t* const* column_family_options, unsigned char deep,
                                       char*** problems, size_t* num_problems, char** errptr) {
  *problems = nullptr;
  *num_problems = 0;
  Guarded(errptr, [&]() -> Status {
    std::vector<cambium::ColumnFamilyDescriptor> families;
    Status s = DescribeFamilies(num_column_families, column_family_names, column_family_options, &families);
    return s.ok() ? Verify(options, name, families, deep, problems, num_problems) : s;
  });
}

// ---- Flushing, compacting, durability ----

void cambium_flush(cambium_t* db, const cambium_flushoptions_t* options, char** errptr) {
  Guarded(errptr, [&] { return db->rep->Flush(options->rep); });
}
void cambium_flush_cf(cambium_t* db, const cambium_flushoptions_t* options, cambium_column_family_handle_t* family,
                      char** errptr) {
  Guarded(errptr, [&] { return db->rep->Flush(options->rep, RepOf(family)); });
}
void cambium_flush_wal(cambium_t* db, unsigned char sync, char** errptr) {
  Guarded(errptr, [&] { return db->rep->FlushWAL(sync != 0); });
}

void cambium_compact_range(cambium_t* db, const char* start_key, size_t start_key_length, const char* limit_key,
                           size_t limit_key_length) {
  const cambium_compactoptions_t options{};
  cambium_compact_range_opt(db, &options, start_key, start_key_length, limit_key, limit_key_length, nullptr);
}
void cambium_compact_range_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* start_key,
                              size_t start_key_length, const char* limit_key, size_t limit_key_length) {
  const cambium_compactoptions_t options{};
  cambium_compact_range_cf_opt(db, family, &options, start_key, start_key_length, limit_key, limit_key_length, nullptr);
}
void cambium_compact_range_opt(cambium_t* db, const cambium_compactoptions_t* options, const char* start_key,
                               size_t start_key_length, const char* limit_key, size_t limit_key_length, char** errptr) {
  Guarded(errptr, [&] {
    const KeyRange range(start_key, start_key_length, limit_key, limit_key_length);
    return db->rep->CompactRange(options->rep, range.BeginOrNull(), range.EndOrNull());
  });
}
void cambium_compact_range_cf_opt(cambium_t* db, cambium_column_family_handle_t* family,
                                  const cambium_compactoptions_t* options, const char* start_key,
                                  size_t start_key_length, const char* limit_key, size_t limit_key_length,
                                  char** errptr) {
  Guarded(errptr, [&] {
    const KeyRange range(start_key, start_key_length, limit_key, limit_key_length);
    return db->rep->CompactRange(options->rep, RepOf(family), range.BeginOrNull(), range.EndOrNull());
  });
}
void cambium_wait_for_compact(cambium_t* db, char** errptr) {
  Guarded(errptr, [&] { return db->rep->WaitForCompact(); });
}
void cambium_verify_checksum(cambium_t* db, const cambium_readoptions_t* options, char** errptr) {
  Guarded(errptr, [&] { return db->rep->VerifyChecksum(options->rep); });
}

// ---- Snapshots ----
// A cambium_snapshot_t is the snapshot itself.

const cambium_snapshot_t* cambium_create_snapshot(cambium_t* db) {
  return reinterpret_cast<const cambium_snapshot_t*>(db->rep->GetSnapshot());
}
void cambium_release_snapshot(cambium_t* db, const cambium_snapshot_t* snapshot) {
  db->rep->ReleaseSnapshot(reinterpret_cast<const cambium::Snapshot*>(snapshot));
}
uint64_t cambium_snapshot_get_sequence_number(const cambium_snapshot_t* snapshot) {
  return reinterpret_cast<const cambium::Snapshot*>(snapshot)->GetSequenceNumber();
}
uint64_t cambium_get_latest_sequence_number(cambium_t* db) { return db->rep->GetLatestSequenceNumber(); }

// ---- Properties ----

char* cambium_property_value(cambium_t* db, const char* property_name) {
  return Property(db->rep.get(), db->rep->DefaultColumnFamily(), property_name);
}
char* cambium_property_value_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* property_name) {
  return Property(db->rep.get(), RepOf(family), property_name);
}
char* cambium_get_db_identity(cambium_t* db, size_t* id_length) { return CopyIdentity(*db->rep, id_length); }
int cambium_property_int(cambium_t* db, const char* property_name, uint64_t* value) {
  return db->rep->GetIntProperty(property_name, value) ? 0 : -1;
}
int cambium_property_int_cf(cambium_t* db, cambium_column_family_handle_t* family, const char* property_name,
                            uint64_t* value) {
  return db->rep->GetIntProperty(RepOf(family), property_name, value) ? 0 : -1;
}
