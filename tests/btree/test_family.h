// TestFamily: one family's durable life without a database around it. Memtables are maps, the MANIFEST is a state to
// which edits are applied, files are a SimFileSystem's, and a std::map knows what everything should say.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btree/btree_index.h"
#include "btree/tree_layers.h"
#include "io/sim/sim_file_system.h"
#include "manifest/state.h"
#include "util/prng.h"

namespace cambium::testing {

// What the model knows of a key: the newest key bytes that were written, and what they say.
struct ModelEntry {
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
using EntryMap = std::map<std::string, ModelEntry, KeyLess>;

// A cursor over a map that must outlive it. It believes the map's order, which need not be the comparator's.
[[nodiscard]] std::unique_ptr<EntryCursor> NewMapCursor(const EntryMap* map);

struct TestFamilyOptions {
  const Comparator* comparator = BytewiseComparator();
  std::uint32_t page_size = 512;
  std::uint64_t segment_bytes_max = 64 * 1024;
  std::size_t write_bytes = 4096;
  SweepPolicy merges;
  EvacuationPolicy evacuation;
  std::uint64_t file_percent_max = ~std::uint64_t{0};  // what each merge is allowed
  std::size_t pool_bytes = 4u << 20;
  unsigned filter_bits_per_key = 10;
};

// What a walk over all pages of the tree finds.
struct TreeFacts {
  std::uint64_t leaves = 0;
  std::uint64_t branches = 0;
  std::uint64_t page_bytes = 0;
  double leaf_fill = 0;                       // average, in percent
  unsigned leaf_fill_min = 100;               // of leaves that are not the last one
  std::uint32_t children_min = ~0u;           // of branches that are not on the right edge, nor the root
  std::uint32_t root_children = 0;            // 0 if the root is a leaf
  std::map<std::uint64_t, std::uint64_t> units;  // live, by file
  std::vector<PageId> leaf_ids;               // in key order
};

class TestFamily {
 public:
  explicit TestFamily(TestFamilyOptions options);
  ~TestFamily();

  // Into the memtable, and the model.
  void Put(const std::string& key, std::uint64_t value_bytes);  // separated
  void PutInline(const std::string& key, const std::string& value);
  void Delete(const std::string& key);
  void DeleteRange(const std::string& begin, const std::string& end);
  [[nodiscard]] std::uint64_t memtable_keys() const { return memtable_.size(); }

  // The memtable becomes durable. Each returns the first error and then has changed nothing.
  Status FlushRun();
  Status FlushMerge();
  Status Flush();  // as PickFlush says
  // One step of a merge of runs.
  Status SweepStep(std::uint64_t max_output_bytes);
  Status SweepAll();

  // What PickFlush is asked about.
  [[nodiscard]] MemtableShape memtable_top() const;

  // As a flush would, but only to the moment before the commit.
  Result<std::unique_ptr<CompactionOutcome>> MergeMemtable();
  Result<std::unique_ptr<CompactionOutcome>> MergeRuns(std::uint64_t max_output_bytes);
  Status Commit(CompactionOutcome* outcome, bool with_memtable);
  // Puts a run of these entries on top, as GC does; the model is told too.
  Status AddRun(const EntryMap& entries);

  // One step for the request, with this filter.
  Status FilterStep(CompactionRequest* request, ValueFilter* filter, std::uint64_t max_output_bytes);
  // A filter has removed it: the model is told.
  void Forget(const std::string& key) { durable_.erase(key); }

  // Closes everything and opens it again from the committed state.
  Status Reopen();

  // All promises: Find and the cursor in both directions say what the model says (of what is durable); accounts, live
  // units and totals are what a walk over everything counts. An error names the first that does not hold.
  Status Check();
  Result<TreeFacts> Walk() const;

  [[nodiscard]] const TreeLayers& layers() const { return *layers_; }
  [[nodiscard]] std::shared_ptr<const TreeLayers> shared_layers() const { return layers_; }
  [[nodiscard]] const FamilyState& state() const { return state_.families.at(1); }
  [[nodiscard]] const EntryMap& durable() const { return durable_; }
  [[nodiscard]] SimFileSystem& fs() { return fs_; }
  [[nodiscard]] PagePool& pool() { return pool_; }
  [[nodiscard]] BTreeIndex& index() { return *index_; }
  [[nodiscard]] const CompactionStats& last_stats() const { return last_stats_; }
  [[nodiscard]] std::uint64_t files_created() const { return files_created_; }
  // Bytes of all .idx files that the state names.
  [[nodiscard]] std::uint64_t index_file_bytes() const;
  [[nodiscard]] EntryMap NewMap() const { return EntryMap(KeyLess{options_.comparator}); }
  // An entry that is like no other, for AddRun.
  ModelEntry NewSeparated(const std::string& key, std::uint64_t value_bytes);

 private:
  static constexpr std::uint32_t kSlots = 7;

  void MakeIndex();
  Result<NewIndexFile> CreateFile(FileKind kind);
  Result<RunInfo> WriteRun(const EntryMap& entries, const RangeDeletes& ranges, AccountDelta* accounts,
                           std::shared_ptr<File>* file);
  Status CommitRun(const EntryMap& entries, const RangeDeletes& ranges);
  Status Apply(const FamilyEdit& family);
  void MakeDurable(const EntryMap& entries, const RangeDeletes& ranges);
  void EmptyMemtable();
  Status CheckReads() const;
  Status CheckAccounts() const;
  Status CheckSegments() const;

  const TestFamilyOptions options_;
  SimFileSystem fs_;
  PagePool pool_;
  ManifestState state_;
  std::unique_ptr<BTreeIndex> index_;
  std::shared_ptr<const TreeLayers> layers_;
  EntryMap memtable_;
  std::shared_ptr<const RangeDeletes> memtable_ranges_;  // older than memtable_, newer than all else
  EntryMap durable_;  // the model: what the layers say, tombstones not among it
  std::uint64_t next_file_ = 1;
  std::uint64_t next_offset_ = 1;
  std::uint64_t files_created_ = 0;
  CompactionStats last_stats_;
};

}  // namespace cambium::testing
