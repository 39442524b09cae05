// NewDatabase: what is being made of a damaged database, and notes about keys, which are kept in it while it is made:
// so no more of either is in memory than of any database that is being written.
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
  // Without `values` keys alone are written, and how large each value would be.
  static Result<std::unique_ptr<NewDatabase>> Create(const DBOptions& options, const std::string& directory,
                                                     const ColumnFamilyOptions& default_family, bool values);
  ~NewDatabase();

  // `id` is the family's in the damaged database; 0 is there from the beginning.
  Status AddFamily(std::uint32_t id, const std::string& name, const ColumnFamilyOptions& options);
  [[nodiscard]] bool HasFamily(std::uint32_t id) const { return families_.contains(id); }
  [[nodiscard]] const Comparator* comparator(std::uint32_t id) const { return families_.at(id).comparator; }

  Status Put(std::uint32_t family, Slice key, Slice value);
  Status Delete(std::uint32_t family, Slice key);
  Status DeleteRange(std::uint32_t family, Slice begin, Slice end);
  Result<bool> Has(std::uint32_t family, Slice key);
  // Absent: there is no such key. Without values too.
  Result<std::optional<std::uint64_t>> FindValueSize(std::uint32_t family, Slice key);

  Status SetNote(std::uint32_t family, Slice key, const Note& note);
  Result<std::optional<Note>> FindNote(std::uint32_t family, Slice key);
  // In the order of keys, as they are when it is called.
  Status ForEachNote(std::uint32_t family, const std::function<Status(Slice key, const Note& note)>& visit);

  struct Figures {
    std::string name;
    std::uint64_t entries = 0;
    std::uint64_t value_bytes = 0;
  };
  // Drops the notes, counts what there is, and closes it: durable, but for its name.
  Result<std::vector<Figures>> Finish();

 private:
  struct Family {
    std::string name;
    const Comparator* comparator = nullptr;
    ColumnFamilyHandle* handle = nullptr;
    ColumnFamilyHandle* notes = nullptr;
    std::uint64_t value_bytes = 0;
  };

  explicit NewDatabase(bool values) : has_values_(values) {}
  Status MakeNotes(std::uint32_t id, const ColumnFamilyOptions& options);
  void DropHandles();

  const bool has_values_;
  std::unique_ptr<DB> db_;
  std::map<std::uint32_t, Family> families_;
  std::string buffer_;
};

}  // namespace cambium
