// OptionsAdditions: the OPTIONS files that this Open has written and that are in force: a whole one, and additions to it
// (options_file.h), each of which adds to the one before it.
//
// The addition for a change takes in the additions before it that are less than twice its size. So each file is at most
// half as large as the one before it: n families need about log n files, and the options of a family are written about
// log n times, however many there are. If the changes come near the size of the whole file, a new whole file is
// written.
//
//   created      1       2       3       4
//   files     [base]  [base]  [base]  [base]
//              [1]     [1 2]   [1 2]   [1 2 3 4]
//                               [3]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cambium {

// How the family with a name has changed since a file was written.
struct FamilyChange {
  bool was_dropped = false;      // the family of this name that the file has was dropped
  std::uint32_t created_id = 0;  // the family that has the name now; 0: there was none when the change was noted
};
using FamilyChanges = std::map<std::string, FamilyChange>;

// Adds older changes to newer ones of the same names.
inline void AddOlder(const FamilyChanges& older, FamilyChanges* changes) {
  for (const auto& [name, change] : older) {
    const auto [at, is_new] = changes->emplace(name, change);
    if (!is_new) at->second.was_dropped |= change.was_dropped;
  }
}

// One thread.
class OptionsAdditions {
 public:
  struct Addition {
    std::uint64_t adds_to = 0;            // 0: a whole file must be written
    FamilyChanges changes;
    std::vector<std::uint64_t> replaced;  // numbers of the additions that this one takes in, to be removed after it
  };

  // The number of the whole file; 0 if none is known.
  [[nodiscard]] std::uint64_t whole() const { return files_.empty() ? 0 : files_.front().number; }
  // The numbers of the additions.
  [[nodiscard]] std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 1; i < files_.size(); ++i) numbers.push_back(files_[i].number);
    return numbers;
  }
  // Forgets the files: the next one must be whole.
  void Clear() { files_.clear(); }
  void SetWhole(std::uint64_t number, std::uint64_t bytes) { files_ = {File{number, bytes, {}}}; }
  // Plans the file for these changes. `bytes`: about its size, without the older additions that it takes in.
  [[nodiscard]] Addition Plan(FamilyChanges changes, std::uint64_t bytes) const {
    Addition addition;
    addition.changes = std::move(changes);
    std::size_t kept = files_.size();
    while (kept > 1 && files_[kept - 1].bytes < 2 * bytes) {
      const File& taken = files_[--kept];
      bytes += taken.bytes;
      AddOlder(taken.changes, &addition.changes);
      addition.replaced.push_back(taken.number);
    }
    if (kept > 1 || (kept == 1 && files_.front().bytes >= 2 * bytes)) addition.adds_to = files_[kept - 1].number;
    return addition;
  }
  // The addition was written and is durable.
  void Written(Addition addition, std::uint64_t number, std::uint64_t bytes) {
    files_.resize(files_.size() - addition.replaced.size());
    files_.push_back({number, bytes, std::move(addition.changes)});
  }

 private:
  struct File {
    std::uint64_t number = 0;
    std::uint64_t bytes = 0;
    FamilyChanges changes;
  };
  std::vector<File> files_;  // the whole one first
};

}  // namespace cambium
