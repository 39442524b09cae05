// A NewDatabase is the database that a salvage writes. Until Finish, it also keeps notes about keys, in separate column
// families. So values and notes take no more memory than any database that is being written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cambium/db.h"
#include "repair/note.h"
#include "util/result.h"

namespace cambium {

// One thread.
class NewDatabase {
 public:
  // Creates the database. Without `values`, only keys and the sizes of their values are written.
  static Result<std::unique_ptr<NewDatabase>> Create(const DBOptions& options, const std::string& directory,
                                                     const ColumnFamilyOptions& default_family, bool values);
  ~NewDatabase();

  // Adds a family. `id` is its id in the damaged database; family 0 exists from the beginning.
  Status AddFamily(std::uint32_t id, const std::string& name, const ColumnFamilyOptions& options);

  Status Put(std::uint32_t family, Slice key, Slice value);
  Status Delete(std::uint32_t family, Slice key);
  Status DeleteRange(std::uint32_t family, Slice begin, Slice end);
  Result<bool> Has(std::uint32_t family, Slice key);
  // Returns the size of the key's value, also without `values`. Absent if there is no such key.
  Result<std::optional<std::uint64_t>> FindValueSize(std::uint32_t family, Slice key);

  Status SetNote(std::uint32_t family, Slice key, const Note& note);
  Result<std::optional<Note>> FindNote(std::uint32_t family, Slice key);
  // Visits the notes in key order, as they are at the time of the call.
  Status ForEachNote(std::uint32_t family, const std::function<Status(Slice key, const Note& note)>& visit);

  struct Figures {
    std::string name;
    std::uint64_t entries = 0;
    std::uint64_t value_bytes = 0;
  };
  // Drops the notes, counts the entries, and closes the database. It is durable then, except for its name.
  Result<std::vector<Figures>> Finish();

 private:
  struct Family {
    std::string name;
    ColumnFamilyHandle* handle = nullptr;
    ColumnFamilyHandle* notes = nullptr;
    std::uint64_t value_bytes = 0;
  };

  NewDatabase(bool values, double max_space_amplification)
      : has_values_(values), max_space_amplification_(max_space_amplification) {}
  Status MakeNotes(std::uint32_t id, const ColumnFamilyOptions& options);
  void DropHandles();

  const bool has_values_;
  const double max_space_amplification_;  // of the finished database
  std::unique_ptr<DB> db_;
  std::map<std::uint32_t, Family> families_;
  std::string buffer_;
};

}  // namespace cambium
