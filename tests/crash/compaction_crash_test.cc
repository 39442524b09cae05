// Power cuts in the middle of a compaction (a sweep of a tree, or a level compaction of an LSM), together with
// everything that may run at the same time. All of it runs in one thread, so that a seed repeats it. Whenever the
// compaction is about to write or sync, the test does what other threads might do then: writes, range deletes, flushes,
// other jobs, new options, snapshots and iterators. At random calls it takes an image of the disk as a power cut leaves
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "testing/test_store.h"
#include "cambium/compaction_filter.h"
#include "io/sim/sim_image.h"
#include "testing/all_read_paths.h"
#include "testing/files/move_pages.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"
#include "vlog/segment_map.h"

namespace cambium::testing {
namespace {

using Map = std::map<std::string, std::string>;

// Decides by the last byte of a value, which is random: removes some values, and makes some larger or smaller. It keeps
// values that it has changed, so that it is idempotent.
class LastByteFilter final : public CompactionFilter {
 public:
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType /*type*/, const Slice& value, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    if (value.empty() || value.starts_with("filtered")) return Decision::kKeep;
    switch (static_cast<unsigned char>(value[value.size() - 1]) % 8) {
      case 0:
      case 1: return Decision::kRemove;
      case 2: *new_value = "filtered " + value.ToString() + std::string(300, 'f'); return Decision::kChangeValue;
      case 3: *new_value = "filtered " + std::to_string(value.size()); return Decision::kChangeValue;
      default: return Decision::kKeep;
    }
  }
  [[nodiscard]] const char* Name() const override { return "LastByteFilter"; }

  // Returns the value after the filter; nullopt if it removes it.
  [[nodiscard]] std::optional<std::string> Filtered(const std::string& value) const {
    std::string new_value;
    std::string skip_until;
    const Decision decision = FilterV2(0, {}, ValueType::kValue, value, &new_value, &skip_until);
    if (decision == Decision::kRemove) return std::nullopt;
    return decision == Decision::kKeep ? value : new_value;
  }
};

// A tree needs many keys: with few, every flush would write into the leaves at once, without a run.
std::uint64_t Keys() { return TestsUseLsm() ? 300 : 2000; }

class CompactionCrashRun {
 public:
  CompactionCrashRun(std::uint64_t seed, bool has_filter) : has_filter_(has_filter), prng_(seed), ways_(~seed) {
    Options& options = store_.options;
    options.page_size = std::uint64_t{512} << prng_.Uniform(4);
    options.write_buffer_size = std::size_t{4096} << prng_.Uniform(3);
    options.max_write_buffer_number = static_cast<int>(prng_.Between(2, 4));
    options.blob_file_size = 16u << 10;
    options.sweep_ratio = static_cast<int>(prng_.Between(1, 2));
    UseIndexOfTest(&options);
    options.level0_stop_writes_trigger = 1000;  // a write inside a compaction cannot wait for that compaction
    options.allow_mmap_reads = ways_.OneIn(2);
    if (has_filter_) {
      options.compaction_filter = &filter_;
      options.blob_garbage_collection_age_cutoff = 1;
    }
    SegmentMap::ResetThreadCounters();
    store_.MustOpen();
    Load();
    hook_ = store_.fs->AddHook([this](const SimOp& op) { BeforeCall(op); });
  }
  ~CompactionCrashRun() {
    store_.fs->RemoveHook(hook_);
    its_.clear();
    for (const auto& [snapshot, state] : snapshots_) store_.db->ReleaseSnapshot(snapshot);
  }

  void Run(int rounds) {
    for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
      for (std::uint64_t runs = prng_.Between(1, 3); runs > 0; --runs) {
        for (std::uint64_t n = prng_.Between(1, 15); n > 0; --n) Write();
        store_.Flush();
      }
      Look();
      std::string from = DrawKey();
      std::string to = DrawKey();
      // Bounds around all keys: without bounds CompactRange would wait for log GC, and no other call that waits may run
      // inside log GC.
      if (has_filter_ && prng_.OneIn(2)) from = "", to = "l";
      const Slice begin = std::min(from, to);
      const Slice end = std::max(from, to);
      const bool whole = !has_filter_ && prng_.OneIn(2);
      const Map before = states_.back();
      is_compacting_ = true;
      const Status s = store_.db->CompactRange({}, whole ? nullptr : &begin, whole ? nullptr : &end);
      is_compacting_ = false;
      ASSERT_TRUE(s.ok()) << s.ToString();
      if (has_filter_) CheckFiltered(before, whole ? nullptr : &from, whole ? nullptr : &to);
      CheckAll();
      while (!its_.empty() && prng_.OneIn(2)) its_.pop_back();
      while (!snapshots_.empty() && prng_.OneIn(2)) {
        store_.db->ReleaseSnapshot(snapshots_.back().first);
        snapshots_.pop_back();
      }
      if (prng_.OneIn(4)) store_.executor->RunAll();
    }
    EXPECT_TRUE(Agrees(Contents(store_.db.get(), {}), states_.back()));
    EXPECT_EQ(store_.Verify(), "");
  }

  // Opens the image of each power cut. Its contents must be the state after some batch, not before the last synced one.
  void CheckCuts() {
    for (const Cut& cut : cuts_) {
      TestStore later(std::make_shared<SimFileSystem>(cut.image));
      later.options.page_size = store_.options.page_size;
      later.options.blob_file_size = store_.options.blob_file_size;
      UseIndexOfTest(&later.options);
      later.options.compaction_filter = store_.options.compaction_filter;
      const Status opened = later.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      const Map found = Contents(later.db.get(), {});
      bool is_known = false;
      for (std::size_t i = cut.most + 1; i-- > cut.least && !is_known;) is_known = Agrees(found, states_[i]);
      ASSERT_TRUE(is_known) << "the contents are no state from " << cut.least << " to " << cut.most;
      ASSERT_EQ(later.Verify(), "");
      if (!prng_.OneIn(4)) continue;
      later.Compact();  // starts the interrupted compaction again
      later.RunUntilIdle();
      Map expected;
      for (const auto& [key, value] : found) {
        const std::optional<std::string> filtered = has_filter_ ? filter_.Filtered(value) : value;
        if (filtered.has_value()) expected[key] = *filtered;
      }
      ASSERT_EQ(Contents(later.db.get(), {}), expected);
      ASSERT_EQ(later.Verify(), "");
      later.db.reset();  // before the filter is destroyed
    }
  }

  [[nodiscard]] std::size_t cuts() const { return cuts_.size(); }
  [[nodiscard]] std::uint64_t interruptions() const { return interruptions_; }
  [[nodiscard]] SimReadCounts read_counts() const { return store_.fs->read_counts(); }

 private:
  struct Cut {
    SimImage image;
    std::size_t least;
    std::size_t most;
  };

  void BeforeCall(const SimOp& op) {
    if (op.phase != SimPhase::kBefore) return;
    const bool is_index = op.path.ends_with(".run") || op.path.ends_with(".idx") || op.path.ends_with(".gc");
    const bool is_of_compaction = is_compacting_ && is_index;
    if (prng_.OneIn(is_of_compaction ? 12 : 60)) cuts_.push_back({store_.fs->DrawCrash(prng_), synced_, begun_});
    if (!is_of_compaction || (op.kind != SimOpKind::kWrite && op.kind != SimOpKind::kSync)) return;
    is_compacting_ = false;  // calls inside Interrupt are not interrupted
    if (!prng_.OneIn(3)) Interrupt();
    is_compacting_ = true;
  }

  void Interrupt() {
    ++interruptions_;
    for (std::uint64_t n = prng_.Between(1, 4); n > 0; --n) {
      switch (prng_.Uniform(8)) {
        case 0:
        case 1:
        case 2: Write(); break;
        case 3: EXPECT_TRUE(store_.db->Flush({.wait = prng_.OneIn(2)}).ok()); break;
        case 4: store_.executor->RunAll(); break;
        case 5: Look(); break;
        case 6: {
          const Status s = store_.db->SetOptions({{"min_blob_size", std::to_string(prng_.Uniform(300))},
                                                  {"target_file_size_base", std::to_string(prng_.Between(16, 48) << 10)}});
          EXPECT_TRUE(s.ok()) << s.ToString();
          break;
        }
        default: CheckAll();
      }
    }
  }

  void Load() {
    WriteBatch batch;
    for (std::uint64_t i = 0; i < Keys(); i += 2) {
      const std::string key = "k" + std::to_string(i);
      EXPECT_TRUE(batch.Put(key, states_.back()[key] = prng_.Bytes(20)).ok());
    }
    EXPECT_TRUE(store_.db->Write({.sync = true}, &batch).ok());
    store_.Compact();
  }

  void Write() {
    Map after = states_.back();
    WriteBatch batch;
    for (std::uint64_t n = prng_.Between(1, 4); n > 0; --n) {
      std::string key = DrawKey();
      if (prng_.OneIn(10)) {
        std::string end = DrawKey();
        if (end < key) std::swap(key, end);
        EXPECT_TRUE(batch.DeleteRange(key, end).ok());
        after.erase(after.lower_bound(key), after.lower_bound(end));
      } else if (prng_.OneIn(4)) {
        EXPECT_TRUE(batch.Delete(key).ok());
        after.erase(key);
      } else {
        after[key] = prng_.Bytes(prng_.OneIn(50) ? 9000 : prng_.Uniform(prng_.OneIn(2) ? 600 : 60));
        EXPECT_TRUE(batch.Put(key, after[key]).ok());
      }
    }
    states_.push_back(std::move(after));
    begun_ = states_.size() - 1;
    WriteOptions write;
    write.sync = prng_.OneIn(6);
    const Status s = store_.db->Write(write, &batch);
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (write.sync) synced_ = begun_;
  }

  // Takes a snapshot and an iterator of the current state.
  void Look() {
    const Map now = has_filter_ ? Contents(store_.db.get(), {}) : states_.back();
    EXPECT_TRUE(Agrees(now, states_.back()));
    if (snapshots_.size() < 3) snapshots_.emplace_back(store_.db->GetSnapshot(), now);
    if (its_.size() < 3) its_.emplace_back(std::unique_ptr<Iterator>(store_.db->NewIterator({})), now);
  }
  // True if each value is as written or, if there is a filter, as filtered.
  [[nodiscard]] bool Agrees(const Map& found, const Map& written) const {
    if (!has_filter_) return found == written;
    for (const auto& [key, value] : found) {
      const auto entry = written.find(key);
      if (entry == written.end() || (value != entry->second && value != filter_.Filtered(entry->second))) return false;
    }
    return std::ranges::all_of(written, [&](const auto& entry) {
      return found.contains(entry.first) || !filter_.Filtered(entry.second).has_value();
    });
  }
  // Checks that every value that was in the range before CompactRange, and was not overwritten since, is filtered.
  void CheckFiltered(const Map& before, const std::string* from, const std::string* to) {
    const Map found = Contents(store_.db.get(), {});
    for (const auto& [key, value] : before) {
      if ((from != nullptr && key < std::min(*from, *to)) || (to != nullptr && key > std::max(*from, *to))) continue;
      const auto now = states_.back().find(key);
      if (now == states_.back().end() || now->second != value) continue;
      const auto entry = found.find(key);
      ASSERT_EQ(entry == found.end() ? std::nullopt : std::optional(entry->second), filter_.Filtered(value)) << key;
    }
  }
  // Checks that the database, each snapshot and each iterator show their state.
  void CheckAll() {
    if (ways_.OneIn(3)) MovePages(store_.fs.get(), ways_);
    EXPECT_TRUE(Agrees(Contents(store_.db.get(), {}), states_.back()));
    for (const auto& [snapshot, state] : snapshots_) {
      ReadOptions at;
      at.snapshot = snapshot;
      at.async_io = ways_.OneIn(2);
      EXPECT_EQ(Contents(store_.db.get(), at), state);
      const std::string key = DrawKey();
      const auto expected = state.find(key);
      EXPECT_EQ(store_.Get(key, at), expected == state.end() ? "NotFound" : expected->second);
    }
    for (const auto& [it, state] : its_) EXPECT_EQ(Contents(it.get()), state);
  }

  static Map Contents(DB* db, const ReadOptions& at) {
    const std::unique_ptr<Iterator> it(db->NewIterator(at));
    return Contents(it.get());
  }
  static Map Contents(Iterator* it) {
    Map all;
    for (it->SeekToFirst(); it->Valid(); it->Next()) all[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return all;
  }
  std::string DrawKey() { return "k" + std::to_string(prng_.Uniform(Keys())); }

  const LastByteFilter filter_;
  const bool has_filter_;
  TestStore store_;
  Prng prng_;
  Prng ways_;  // chooses how values are read
  int hook_ = 0;
  std::vector<Map> states_{1};  // states_[n]: the contents after n batches
  std::size_t begun_ = 0;
  std::size_t synced_ = 0;
  std::vector<std::pair<const Snapshot*, Map>> snapshots_;
  std::vector<std::pair<std::unique_ptr<Iterator>, Map>> its_;
  std::vector<Cut> cuts_;
  bool is_compacting_ = false;  // in CompactRange, and not in Interrupt
  std::uint64_t interruptions_ = 0;
};

void RunMany(bool has_filter) {
  const std::uint64_t first = SeedFromEnvironment(0x3e46e);
  std::uint64_t cuts = 0;
  std::uint64_t interruptions = 0;
  SimReadCounts reads;
  const std::uint64_t runs = ScaledCount(has_filter ? 20 : 200);  // a run with a filter has many more cuts
  for (std::uint64_t i = 0; i < runs; ++i) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(first + i));
    CompactionCrashRun run(first + i, has_filter);
    run.Run(25);
    run.CheckCuts();
    if (::testing::Test::HasFailure()) return;
    cuts += run.cuts();
    interruptions += run.interruptions();
    reads += run.read_counts();
  }
  std::printf("%llu cuts, %llu interruptions of a compaction\n", static_cast<unsigned long long>(cuts),
              static_cast<unsigned long long>(interruptions));
  EXPECT_GT(cuts, runs * 10);
  EXPECT_GT(interruptions, runs * 5);
  ExpectAllReadPaths(reads);
}

TEST(CompactionCrashTest, PowerCutInACompactionLeavesAPrefix) { RunMany(false); }

// With a compaction filter a value is as written or as filtered, never an older one; after CompactRange it is filtered.
TEST(CompactionCrashTest, PowerCutWithAFilterRestoresNoOldValue) { RunMany(true); }

}  // namespace
}  // namespace cambium::testing
