#include "repair/new_database.h"

#include <cassert>
#include <utility>

#include "options/option_table.h"

namespace cambium {
namespace {

constexpr std::size_t kNotesMemory = 8u << 20;

}  // namespace

Result<std::unique_ptr<NewDatabase>> NewDatabase::Create(const DBOptions& options, const std::string& directory,
                                                         const ColumnFamilyOptions& default_family, bool values) {
  DBOptions here = options;
  here.create_if_missing = true;
  here.error_if_exists = false;
  here.listeners.clear();
  here.max_space_amplification = 0;  // Finish sets it: the notes are in the index whatever ceiling is wanted
  if (here.info_log == nullptr) here.info_log = NullLogger();
  std::unique_ptr<NewDatabase> made(new NewDatabase(values, options.max_space_amplification));
  Family& first = made->families_[0];  // made before the handle, which leaks if memory runs out between the two
  first.name = kDefaultColumnFamilyName;
  std::vector<ColumnFamilyHandle*> handles;
  CAMBIUM_RETURN_IF_ERROR(DB::Open(here, directory, {ColumnFamilyDescriptor(kDefaultColumnFamilyName, default_family)},
                                   &handles, &made->db_));
  first.handle = handles[0];
  CAMBIUM_RETURN_IF_ERROR(made->MakeNotes(0, default_family));
  return made;
}

NewDatabase::~NewDatabase() { DropHandles(); }

void NewDatabase::DropHandles() {
  for (auto& [id, family] : families_) {
    delete std::exchange(family.handle, nullptr);
    delete std::exchange(family.notes, nullptr);
  }
}

Status NewDatabase::AddFamily(std::uint32_t id, const std::string& name, const ColumnFamilyOptions& options) {
  assert(!families_.contains(id));
  Family& added = families_[id];
  added.name = name;
  CAMBIUM_RETURN_IF_ERROR(db_->CreateColumnFamily(options, name, &added.handle));
  return MakeNotes(id, options);
}

// Creates the notes of a family with the family's comparator, so that keys which are equal to it have one note.
Status NewDatabase::MakeNotes(std::uint32_t id, const ColumnFamilyOptions& options) {
  ColumnFamilyOptions notes;
  notes.comparator = options.comparator;
  notes.page_size = options.page_size;
  notes.blob_file_size = options.blob_file_size;
  notes.write_buffer_size = kNotesMemory;
  notes.enable_blob_files = false;
  return db_->CreateColumnFamily(notes, "cambium.salvage.notes." + std::to_string(id), &families_.at(id).notes);
}

Status NewDatabase::Put(std::uint32_t family, Slice key, Slice value) {
  Family& there = families_.at(family);
  there.value_bytes += value.size();
  if (has_values_) return db_->Put({}, there.handle, key, value);
  std::string size;
  PutFixed<std::uint64_t>(&size, value.size());
  return db_->Put({}, there.handle, key, size);
}
Status NewDatabase::Delete(std::uint32_t family, Slice key) {
  return db_->Delete({}, families_.at(family).handle, key);
}
Status NewDatabase::DeleteRange(std::uint32_t family, Slice begin, Slice end) {
  return db_->DeleteRange({}, families_.at(family).handle, begin, end);
}

Result<bool> NewDatabase::Has(std::uint32_t family, Slice key) {
  PinnableSlice value;
  const Status found = db_->Get({}, families_.at(family).handle, key, &value);
  if (found.IsNotFound()) return false;
  CAMBIUM_RETURN_IF_ERROR(found);
  return true;
}

Result<std::optional<std::uint64_t>> NewDatabase::FindValueSize(std::uint32_t family, Slice key) {
  PinnableSlice value;
  const Status found = db_->Get({}, families_.at(family).handle, key, &value);
  if (found.IsNotFound()) return std::optional<std::uint64_t>();
  CAMBIUM_RETURN_IF_ERROR(found);
  std::uint64_t size = value.size();
  Slice in = value;
  if (!has_values_) static_cast<void>(GetFixed(&in, &size));
  return std::optional<std::uint64_t>(size);
}

Status NewDatabase::SetNote(std::uint32_t family, Slice key, const Note& note) {
  return db_->Put({}, families_.at(family).notes, key, note.Encode());
}

Result<std::optional<Note>> NewDatabase::FindNote(std::uint32_t family, Slice key) {
  const Status found = db_->Get({}, families_.at(family).notes, key, &buffer_);
  if (found.IsNotFound()) return std::optional<Note>();
  CAMBIUM_RETURN_IF_ERROR(found);
  return std::optional<Note>(Note::Decode(buffer_));
}

Status NewDatabase::ForEachNote(std::uint32_t family, const std::function<Status(Slice key, const Note& note)>& visit) {
  const std::unique_ptr<Iterator> notes(db_->NewIterator({}, families_.at(family).notes));
  for (notes->SeekToFirst(); notes->Valid(); notes->Next()) {
    CAMBIUM_RETURN_IF_ERROR(visit(notes->key(), Note::Decode(notes->value())));
  }
  return notes->status();
}

Result<std::vector<NewDatabase::Figures>> NewDatabase::Finish() {
  std::vector<Figures> figures;
  for (auto& [id, family] : families_) {
    assert(family.handle != nullptr && family.notes != nullptr && "it ends once");
    CAMBIUM_RETURN_IF_ERROR(db_->DropColumnFamily(family.notes));
    delete std::exchange(family.notes, nullptr);
    figures.push_back({family.name, 0, family.value_bytes});
    ReadOptions keys_only;
    keys_only.allow_unprepared_value = true;
    const std::unique_ptr<Iterator> entries(db_->NewIterator(keys_only, family.handle));
    for (entries->SeekToFirst(); entries->Valid(); entries->Next()) ++figures.back().entries;
    CAMBIUM_RETURN_IF_ERROR(entries->status());
  }
  // If the values of a family cannot stay below the ceiling, the new database has no ceiling, so that all values are
  // kept.
  DBOptions wanted;
  wanted.max_space_amplification = max_space_amplification_;
  const auto& ceiling = *FindOptionField<DBOptions>("max_space_amplification");
  const Status bounded = db_->SetDBOptions({{"max_space_amplification", FormatOption(ceiling, wanted)}});
  if (!bounded.IsInvalidArgument()) CAMBIUM_RETURN_IF_ERROR(bounded);
  DropHandles();
  CAMBIUM_RETURN_IF_ERROR(db_->Close());
  return figures;
}

}  // namespace cambium
