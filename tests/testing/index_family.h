// IndexFamily: the index of one column family without a database around it, for tests of both back-ends. Memtables are
// maps, the MANIFEST is a ManifestState to which edits are applied, files are in a SimFileSystem, and a std::map is the
// model of what the layers must contain. TreeFamily and LsmFamily add what only one back-end has.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "index/index.h"
#include "io/sim/sim_file_system.h"
#include "manifest/edit.h"
#include "manifest/state.h"
#include "testing/key_less.h"

namespace cambium::testing {

// The newest entry of a key, and the key's bytes as they were written with it.
struct ModelEntry {
  std::string key;
  EntryKind kind = EntryKind::kTombstone;
  ValueAddress address;  // of an inline value: its version
  std::string inline_value;

  [[nodiscard]] Entry entry() const;
  [[nodiscard]] bool Equals(const Entry& entry) const;
};
using EntryMap = std::map<std::string, ModelEntry, KeyLess>;

// A cursor over a map, which must outlive it. It follows the map's order, which need not be the comparator's.
[[nodiscard]] std::unique_ptr<EntryCursor> NewMapCursor(const EntryMap* map);

// Eight digits: the keys sort as the numbers do.
[[nodiscard]] std::string NumberKey(std::uint64_t n);

struct IndexFamilyOptions {
  const Comparator* comparator = BytewiseComparator();
  std::uint32_t page_size = 512;
  std::size_t pool_bytes = 4u << 20;
  std::uint64_t file_percent_max = ~std::uint64_t{0};  // for each compaction; see CompactionInput
  std::optional<StepBounds> bounds;                    // likewise
};

class IndexFamily {
 public:
  static constexpr std::uint64_t kWholeStep = std::uint64_t{1} << 40;

  virtual ~IndexFamily();
  IndexFamily(const IndexFamily&) = delete;
  IndexFamily& operator=(const IndexFamily&) = delete;

  // Writes into the memtable.
  void Put(const std::string& key, std::uint64_t value_bytes);  // a separated value
  void PutInline(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void DeleteRange(const std::string& begin, const std::string& end);  // [begin, end)
  [[nodiscard]] std::uint64_t memtable_keys() const { return memtable_.size(); }

  // The calls below return the first error, and have then changed nothing durable.

  // Makes a run of the memtable, on top of the others.
  Status FlushRun();
  // Adds a run of these entries on top, as log GC does. They count in the model, too.
  Status AddRun(const EntryMap& entries);

  // A compaction of runs or levels, or one step of it, up to the moment before the commit.
  Result<std::unique_ptr<CompactionOutcome>> Compact(std::uint64_t step_bytes, CompactionRequest* request = nullptr,
                                                     ValueFilter* filter = nullptr);
  // `with_memtable`: the outcome contains the memtable.
  Status Commit(CompactionOutcome* outcome, bool with_memtable = false);
  // Compact and Commit.
  Status Step(std::uint64_t step_bytes = kWholeStep, CompactionRequest* request = nullptr,
              ValueFilter* filter = nullptr);
  // From now on compactions note what they ask their filter about, and do not ask again.
  void NoteFiltered();
  // A request for all keys, with the current runs.
  [[nodiscard]] CompactionRequest NewRequest() const;

  // Closes everything and opens it again from the committed state.
  Status Reopen();

  // Checks that Find and the cursors in both directions agree with the model; that no layer shows a deleted key; that
  // the accounts count exactly the entries of all layers; and that layers and files agree with the state. The message
  // names the first contradiction.
  Status Check();

  [[nodiscard]] const FamilyState& state() const { return state_.families.at(1); }
  [[nodiscard]] FamilyState& mutable_state() { return state_.families.at(1); }
  [[nodiscard]] const EntryMap& durable() const { return durable_; }
  [[nodiscard]] SimFileSystem& fs() { return fs_; }
  [[nodiscard]] PagePool& pool() { return pool_; }
  [[nodiscard]] const CompactionStats& last_stats() const { return last_stats_; }
  [[nodiscard]] const FamilyEdit& last_edit() const { return last_edit_; }
  [[nodiscard]] std::uint64_t files_created() const { return files_created_; }
  [[nodiscard]] EntryMap NewMap() const { return EntryMap(KeyLess{comparator()}); }
  // A compaction filter has removed the entry `of` of the key, or replaced it by `now`. Does nothing if a newer entry
  // hides it.
  void Filtered(const std::string& key, const ModelEntry& of, const std::optional<ModelEntry>& now);
  // A separated entry with a new address, for AddRun.
  ModelEntry NewSeparated(const std::string& key, std::uint64_t value_bytes);

 private:
  const IndexFamilyOptions options_;
  SimFileSystem fs_;
  PagePool pool_;  // declared first: outlives index_ and layers_

 protected:
  using VisitEntry = std::function<Status(Slice key, const Entry& entry)>;

  IndexFamily(const IndexFamilyOptions& options, IndexType type);
  // Opens the empty family. To be called by the constructor of the derived class.
  void Start();

  [[nodiscard]] virtual std::unique_ptr<Index> MakeIndex() = 0;
  virtual Result<std::shared_ptr<const Layers>> OpenLayers(const OpenIndexFile& open_file) = 0;
  // Visits every entry of every layer, including those that newer layers hide, but not those that a sweep masks.
  virtual Status VisitEntries(const VisitEntry& visit) const = 0;
  // Compares the layers' files and their places with the state.
  virtual Status CheckFiles() const = 0;

  Result<NewIndexFile> CreateFile(FileKind kind);
  [[nodiscard]] static std::string PathOf(FileKind kind, std::uint64_t number);
  [[nodiscard]] const Comparator* comparator() const { return options_.comparator; }
  [[nodiscard]] static Status Wrong(const std::string& what) { return Status::Corruption("check: " + what); }

  std::unique_ptr<Index> index_;
  std::shared_ptr<const Layers> layers_;
  EntryMap memtable_;
  std::shared_ptr<const RangeDeletes> memtable_ranges_;  // older than memtable_, newer than all layers
  EntryMap durable_;  // the model of the layers, without tombstones
  std::shared_ptr<const FilteredPart> filtered_;

 private:
  static constexpr std::uint32_t kSlots = 7;

  Status WriteRun(const EntryMap& entries, const RangeDeletes& ranges, FamilyEdit* edit,
                  std::shared_ptr<const Run>* run);
  Status CommitRun(const EntryMap& entries, const RangeDeletes& ranges);
  Status Apply(const FamilyEdit& family);
  void MakeDurable(const EntryMap& entries, const RangeDeletes& ranges);
  void ClearMemtable();
  Status CheckReads() const;
  Status CheckEntries() const;

  ManifestState state_;
  std::uint64_t next_file_ = 1;
  std::uint64_t next_offset_ = 1;
  std::uint64_t inline_puts_ = 0;
  std::uint64_t files_created_ = 0;
  CompactionStats last_stats_;
  FamilyEdit last_edit_;
};

// For a family of the keys NumberKey(4 * i), i < count: adds three runs that update, delete and add keys.
inline void AddThreeRuns(IndexFamily& family, std::uint64_t count) {
  for (std::uint64_t run = 0; run < 3; ++run) {
    for (std::uint64_t i = run; i < count; i += 5) family.Put(NumberKey(i * 4), 400);
    for (std::uint64_t i = run; i < count; i += 7) family.Delete(NumberKey(i * 4));
    for (std::uint64_t i = run; i < count; i += 6) family.Put(NumberKey(i * 4 + 1), 400);
    ASSERT_TRUE(family.FlushRun().ok());
  }
}

// Compacts while the n-th call of this kind fails.
inline Result<std::unique_ptr<CompactionOutcome>> CompactWithFault(IndexFamily& family, std::uint64_t step_bytes,
                                                                   SimOpKind kind, std::uint64_t nth) {
  SimFault fault;
  fault.kind = kind;
  fault.nth = nth;
  const int id = family.fs().AddFault(fault);
  auto outcome = family.Compact(step_bytes);
  family.fs().RemoveFault(id);
  return outcome;
}

inline void ExpectGood(IndexFamily& family) {
  const Status s = family.Check();
  ASSERT_TRUE(s.ok()) << s.ToString();
}

}  // namespace cambium::testing
