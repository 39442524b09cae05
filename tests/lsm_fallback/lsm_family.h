// LsmFamily: one family's durable life in an LSM, without a database around it. Memtables are maps, the MANIFEST is a
// state to which edits are applied, files are a SimFileSystem's, and a std::map knows what everything should say.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "lsm_fallback/lsm_index.h"
#include "lsm_fallback/lsm_layers.h"
#include "manifest/state.h"

namespace cambium::testing {

// What is known of a key: the newest key bytes that were written, and what they say.
struct KnownEntry {
  std::string key;
  EntryKind kind = EntryKind::kTombstone;
  ValueAddress address;
  std::string inline_value;

  [[nodiscard]] Entry entry() const;
  [[nodiscard]] bool Says(const Entry& entry) const;
};
struct KeyLess {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};
using KnownMap = std::map<std::string, KnownEntry, KeyLess>;

// Sizes so small that a few hundred keys fill several levels.
[[nodiscard]] CompactionPolicy TinyPolicy(CompactionStyle style = kCompactionStyleLevel);

struct LsmFamilyOptions {
  const Comparator* comparator = BytewiseComparator();
  std::uint32_t page_size = 512;
  std::size_t pool_bytes = 4u << 20;
  Codec compression = Codec::kNone;
  CompactionPolicy policy = TinyPolicy();
};

class LsmFamily {
 public:
  explicit LsmFamily(LsmFamilyOptions options = {});
  ~LsmFamily();

  // Into the memtable.
  void Put(const std::string& key, std::uint64_t value_bytes);  // separated
  void PutInline(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void DeleteRange(const std::string& begin, const std::string& end);  // [begin, end)
  // The memtable becomes a run on top.
  Status FlushRun();

  Result<std::unique_ptr<CompactionOutcome>> Compact(std::uint64_t step_bytes, CompactionRequest* request = nullptr);
  Status Commit(CompactionOutcome* outcome);
  // Both: the step that is due, or, if none is, the one that is not.
  Status Step(std::uint64_t step_bytes = kWholeStep);
  Status CompactWhileDue(std::uint64_t step_bytes = kWholeStep);
  // As a user's CompactRange does.
  Status CompactRange(std::optional<std::string> begin, std::optional<std::string> end,
                      std::uint64_t step_bytes = kWholeStep);
  [[nodiscard]] CompactionRequest NewRequest() const;

  // Closes everything and opens it again from the committed state.
  Status Reopen();

  // All promises: Find and the cursor, in both directions and from anywhere, say what the map says of what is durable;
  // accounts are what a walk over every file counts; files lie where the state says. An error names what does not hold.
  Status Check();

  [[nodiscard]] const LsmLayers& layers() const { return *layers_; }
  [[nodiscard]] std::shared_ptr<const LsmLayers> shared_layers() const { return layers_; }
  [[nodiscard]] const FamilyState& state() const { return state_.families.at(1); }
  [[nodiscard]] FamilyState& mutable_state() { return state_.families.at(1); }
  [[nodiscard]] const KnownMap& durable() const { return durable_; }
  [[nodiscard]] SimFileSystem& fs() { return fs_; }
  [[nodiscard]] LsmIndex& index() { return *index_; }
  [[nodiscard]] const CompactionStats& last_stats() const { return last_stats_; }
  [[nodiscard]] const FamilyEdit& last_edit() const { return last_edit_; }
  [[nodiscard]] std::uint64_t files_created() const { return files_created_; }
  [[nodiscard]] std::string PathOf(std::uint64_t run) const;
  // Entries and tombstones of all files, hidden ones too.
  [[nodiscard]] std::uint64_t entry_count() const;
  [[nodiscard]] std::uint64_t tombstone_count() const;
  [[nodiscard]] std::uint64_t range_delete_count() const;

  static constexpr std::uint64_t kWholeStep = std::uint64_t{1} << 40;

 private:
  static constexpr std::uint32_t kSlots = 7;

  void MakeIndex();
  Result<NewIndexFile> CreateFile();
  Status Apply(const FamilyEdit& family);
  Status CheckReads() const;
  Status CheckAccounts() const;
  Status CheckPlaces() const;

  const LsmFamilyOptions options_;
  SimFileSystem fs_;
  PagePool pool_;
  ManifestState state_;
  std::unique_ptr<LsmIndex> index_;
  std::shared_ptr<const LsmLayers> layers_;
  KnownMap memtable_;
  std::vector<std::pair<std::string, std::string>> memtable_ranges_;  // all older than the keys in memtable_
  KnownMap durable_;  // tombstones not among it
  std::uint64_t next_file_ = 1;
  std::uint64_t next_offset_ = 1;
  std::uint64_t files_created_ = 0;
  CompactionStats last_stats_;
  FamilyEdit last_edit_;
};

}  // namespace cambium::testing
