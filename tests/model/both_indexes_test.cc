// A B+-tree, an LSM and a std::map get the same operations: families "tree" and "lsm" of one database get each of them
// in one batch, and their answers are compared after each step. A second test cuts the power in the middle.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "testing/family_store.h"
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

const std::vector<std::string> kBoth = {"tree", "lsm"};

class BothIndexes {
 public:
  explicit BothIndexes(std::uint64_t seed) : prng_(seed), ways_(~seed) {
    store.options.index_type = IndexKind::kBTree;
    store.options.create_missing_column_families = true;
    store.options.page_size = std::uint64_t{512} << prng_.Uniform(4);
    store.options.write_buffer_size = std::size_t{4096} << prng_.Uniform(3);
    store.options.min_blob_size = std::uint64_t{16} << prng_.Uniform(5);
    store.options.sweep_ratio = static_cast<int>(prng_.Between(1, 8));
    ColumnFamilyOptions lsm = store.options;
    lsm.index_type = IndexKind::kLsm;
    lsm.level0_file_num_compaction_trigger = static_cast<int>(prng_.Between(1, 4));
    lsm.level0_slowdown_writes_trigger = 8;
    lsm.level0_stop_writes_trigger = 12;
    lsm.target_file_size_base = 16u << 10;
    lsm.max_bytes_for_level_base = 16u << 10;
    lsm.max_bytes_for_level_multiplier = 2;
    lsm.num_levels = static_cast<int>(prng_.Between(2, 6));
    lsm.compaction_style = prng_.OneIn(2) ? kCompactionStyleLazyLevel : kCompactionStyleLevel;
    store.family_options["lsm"] = lsm;
  }

  void Open() {
    PrepareToOpen();
    store.MustOpenWith(kBoth);
  }
  void KillAndOpen() {
    PrepareToOpen();
    store.KillAndOpenWith(kBoth);
  }
  ColumnFamilyHandle* tree() { return store.handles[1]; }
  ColumnFamilyHandle* lsm() { return store.handles[2]; }

  std::string DrawKey() { return "k" + std::to_string(prng_.Uniform(300)); }
  std::string DrawValue() {
    const std::uint64_t size = prng_.OneIn(40) ? 9000 : prng_.OneIn(3) ? prng_.Uniform(700) : prng_.Uniform(100);
    return prng_.Bytes(size);
  }

  // Makes a batch of one to five operations, each for both families, and applies them to *model.
  WriteBatch DrawBatch(Map* model) {
    WriteBatch batch;
    for (std::uint64_t n = prng_.Between(1, 5); n > 0; --n) {
      std::string key = DrawKey();
      if (prng_.OneIn(12)) {
        std::string end = DrawKey();
        if (end < key) std::swap(key, end);
        for (ColumnFamilyHandle* family : {tree(), lsm()}) EXPECT_TRUE(batch.DeleteRange(family, key, end).ok());
        model->erase(model->lower_bound(key), model->lower_bound(end));
      } else if (prng_.OneIn(5)) {
        for (ColumnFamilyHandle* family : {tree(), lsm()}) EXPECT_TRUE(batch.Delete(family, key).ok());
        model->erase(key);
      } else {
        const std::string value = DrawValue();
        for (ColumnFamilyHandle* family : {tree(), lsm()}) EXPECT_TRUE(batch.Put(family, key, value).ok());
        (*model)[key] = value;
      }
    }
    return batch;
  }

  // Scans a family in one direction. Returns the first difference from `model`, or "".
  std::string Compare(ColumnFamilyHandle* family, const Map& model, ReadOptions at, bool forward) {
    at.async_io = ways_.OneIn(2);
    const std::unique_ptr<Iterator> it(store.db->NewIterator(at, family));
    const auto differs = [&](const std::string& key, const std::string& value) -> std::string {
      if (!it->Valid()) return family->GetName() + " ends before " + key + " " + it->status().ToString();
      if (it->key() != Slice(key)) {
        return family->GetName() + " has " + it->key().ToString() + " instead of " + key;
      }
      const std::string found = it->value().ToString();
      if (found != value) {
        return family->GetName() + " has " + found.substr(0, 40) + " for " + key + " " + it->status().ToString();
      }
      return "";
    };
    if (forward) {
      it->SeekToFirst();
      for (const auto& [key, value] : model) {
        if (std::string s = differs(key, value); !s.empty()) return s;
        it->Next();
      }
    } else {
      it->SeekToLast();
      for (auto entry = model.rbegin(); entry != model.rend(); ++entry) {
        if (std::string s = differs(entry->first, entry->second); !s.empty()) return s;
        it->Prev();
      }
    }
    if (it->Valid()) return family->GetName() + " has the additional key " + it->key().ToString();
    return it->status().ok() ? "" : it->status().ToString();
  }

  // Compares a few lookups and seeks with `model`. Returns the first difference, or "".
  std::string Probe(const Map& model, ReadOptions at) {
    at.async_io = ways_.OneIn(2);
    if (ways_.OneIn(30)) MovePages(store.fs.get(), ways_);
    for (ColumnFamilyHandle* family : {tree(), lsm()}) {
      const std::string key = DrawKey();
      const auto expected = model.find(key);
      const std::string found = store.GetFrom(family, key, at);
      if (found != (expected == model.end() ? "NotFound" : expected->second)) {
        return family->GetName() + " has " + found.substr(0, 40) + " for " + key;
      }
      const std::unique_ptr<Iterator> it(store.db->NewIterator(at, family));
      it->Seek(key);
      const auto next = model.lower_bound(key);
      if (it->Valid() != (next != model.end()) || (it->Valid() && it->key() != Slice(next->first))) {
        return family->GetName() + ": Seek of " + key + " is wrong";
      }
      it->SeekForPrev(key);
      auto before = model.upper_bound(key);
      const bool has = before != model.begin();
      if (has) --before;
      if (it->Valid() != has || (has && it->key() != Slice(before->first))) {
        return family->GetName() + ": SeekForPrev of " + key + " is wrong";
      }
    }
    return "";
  }

  FamilyStore store;
  Prng prng_;

 private:
  void PrepareToOpen() {
    store.options.allow_mmap_reads = ways_.OneIn(2);
    SegmentMap::ResetThreadCounters();
  }

  Prng ways_;  // chooses how values are read
};

// Random steps on one database, and the states that it and its snapshots must show after each of them.
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed) : both_(seed) { both_.Open(); }

  // Writes a batch, compares, and sometimes does something else.
  void Step() {
    WriteBatch batch = both_.DrawBatch(&model_);
    const Status written = store_.db->Write({}, &batch);
    ASSERT_TRUE(written.ok()) << written.ToString();
    if (prng_.OneIn(3) && store_.executor->pending() > 0) store_.executor->RunOneInstead();
    ASSERT_EQ(both_.Probe(model_, {}), "");
    if (!held_.empty()) {
      ASSERT_NO_FATAL_FAILURE(CompareOneSnapshot());
    }
    switch (prng_.Uniform(60)) {
      case 0: store_.FlushOf(AnyFamily()); break;
      case 1: Compact(); break;
      case 2:
        if (held_.size() < 4) held_.emplace_back(store_.db->GetSnapshot(), model_);
        break;
      case 3:
        if (held_.empty()) break;
        store_.db->ReleaseSnapshot(held_.back().first);
        held_.pop_back();
        break;
      case 4:
        ASSERT_EQ(both_.Compare(both_.tree(), model_, {}, prng_.OneIn(2)), "");
        ASSERT_EQ(both_.Compare(both_.lsm(), model_, {}, prng_.OneIn(2)), "");
        break;
      case 5:
        if (prng_.OneIn(4)) OpenWithOtherOptions();
        break;
      default: break;
    }
  }
  void End() {
    ReleaseSnapshots();
    ASSERT_EQ(both_.Compare(both_.tree(), model_, {}, true), "");
    ASSERT_EQ(both_.Compare(both_.lsm(), model_, {}, false), "");
    store_.RunUntilIdle();
    ASSERT_EQ(store_.Verify(), "");
    reads_ += store_.fs->read_counts();
  }
  [[nodiscard]] const SimReadCounts& reads() const { return reads_; }

 private:
  ColumnFamilyHandle* AnyFamily() { return prng_.OneIn(2) ? both_.tree() : both_.lsm(); }
  void CompareOneSnapshot() {
    const auto& [snapshot, state] = held_[prng_.Uniform(held_.size())];
    ReadOptions at;
    at.snapshot = snapshot;
    ASSERT_EQ(both_.Probe(state, at), "");
    if (prng_.OneIn(20)) {
      ColumnFamilyHandle* const family = AnyFamily();
      ASSERT_EQ(both_.Compare(family, state, at, prng_.OneIn(2)), "");
    }
  }
  void Compact() {
    const std::string from = both_.DrawKey();
    const std::string to = both_.DrawKey();
    const Slice begin(from);
    const Slice end(to);
    const bool whole = prng_.OneIn(2) || to < from;
    ASSERT_TRUE(store_.db->CompactRange({}, AnyFamily(), whole ? nullptr : &begin, whole ? nullptr : &end).ok());
  }
  void ReleaseSnapshots() {
    for (const auto& [snapshot, state] : held_) store_.db->ReleaseSnapshot(snapshot);
    held_.clear();
  }
  void OpenWithOtherOptions() {
    ReleaseSnapshots();
    // Changes the threshold, so that keys change between inline and separated values from layer to layer.
    store_.options.min_blob_size = store_.family_options["lsm"].min_blob_size = std::uint64_t{16} << prng_.Uniform(5);
    // Continues with the levels that another compaction style has left.
    ColumnFamilyOptions& lsm = store_.family_options["lsm"];
    lsm.compaction_style = prng_.OneIn(2) ? kCompactionStyleLazyLevel : kCompactionStyleLevel;
    lsm.num_levels = static_cast<int>(prng_.Between(2, 6));
    lsm.compression = prng_.OneIn(2) ? CompressionType::kNoCompression : CompressionType::kLZ4Compression;
    if (prng_.OneIn(2)) {
      store_.Close();
      both_.Open();
    } else {
      reads_ += store_.fs->read_counts();
      both_.KillAndOpen();
    }
    ASSERT_EQ(store_.Verify(), "");
  }

  BothIndexes both_;
  FamilyStore& store_ = both_.store;
  Prng& prng_ = both_.prng_;
  Map model_;
  std::vector<std::pair<const Snapshot*, Map>> held_;
  SimReadCounts reads_;
};

TEST(BothIndexesTest, TreeLsmAndMapAgreeAfterEveryStep) {
  const std::uint64_t first = SeedFromEnvironment(0xb07);
  SimReadCounts reads;
  for (std::uint64_t n = 0; n < ScaledCount(60); ++n) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(first + n));
    RandomRun run(first + n);
    for (int step = 0; step < 1200; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      ASSERT_NO_FATAL_FAILURE(run.Step());
    }
    ASSERT_NO_FATAL_FAILURE(run.End());
    reads += run.reads();
  }
  ExpectAllReadPaths(reads);
}

// After a power cut both families have the same prefix of the batches, and it includes every synced one.
TEST(BothIndexesTest, PowerCutLeavesTheSamePrefixInBoth) {
  const std::uint64_t first = SeedFromEnvironment(0xb08);
  std::uint64_t images = 0;
  for (std::uint64_t run = 0; run < ScaledCount(150); ++run) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(first + run));
    BothIndexes both(first + run);
    FamilyStore& store = both.store;
    Prng& prng = both.prng_;
    both.Open();
    std::vector<Map> states(1);  // states[n]: the contents after n batches
    std::size_t synced = 0;
    struct Cut {
      SimImage image;
      std::size_t least;
      std::size_t most;
    };
    std::vector<Cut> cuts;
    std::size_t begun = 0;
    const int hook = store.fs->AddHook([&](const SimOp&) {
      if (prng.OneIn(60)) cuts.push_back({store.fs->DrawCrash(prng), synced, begun});
    });
    for (int step = 0; step < 250; ++step) {
      Map after = states.back();
      WriteBatch batch = both.DrawBatch(&after);
      states.push_back(after);
      begun = states.size() - 1;
      WriteOptions write;
      write.sync = prng.OneIn(6);
      ASSERT_TRUE(store.db->Write(write, &batch).ok());
      if (write.sync) synced = states.size() - 1;
      if (prng.OneIn(3) && store.executor->pending() > 0) store.executor->RunOneInstead();
      if (prng.OneIn(40)) store.FlushOf(prng.OneIn(2) ? both.tree() : both.lsm());
      if (prng.OneIn(60)) {
        ASSERT_TRUE(store.db->CompactRange({}, prng.OneIn(2) ? both.tree() : both.lsm(), nullptr, nullptr).ok());
      }
    }
    store.fs->RemoveHook(hook);
    images += cuts.size();
    for (const Cut& cut : cuts) {
      FamilyStore later(std::make_shared<SimFileSystem>(cut.image));
      later.options.create_missing_column_families = true;
      later.options.index_type = IndexKind::kBTree;
      later.options.page_size = store.options.page_size;
      later.options.min_blob_size = store.options.min_blob_size;
      later.family_options = store.family_options;
      const Status opened = later.OpenWith(kBoth);
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      const auto read_all = [&](ColumnFamilyHandle* family) {
        Map all;
        const std::unique_ptr<Iterator> it(later.db->NewIterator({}, family));
        for (it->SeekToFirst(); it->Valid(); it->Next()) all[it->key().ToString()] = it->value().ToString();
        EXPECT_TRUE(it->status().ok()) << it->status().ToString();
        return all;
      };
      const Map tree = read_all(later.handles[1]);
      ASSERT_EQ(tree == read_all(later.handles[2]), true) << "the families differ";
      std::optional<std::size_t> found;
      for (std::size_t i = cut.most + 1; i-- > cut.least && !found.has_value();) {
        if (states[i] == tree) found = i;
      }
      ASSERT_TRUE(found.has_value()) << "the contents are no state from " << cut.least << " to " << cut.most;
      ASSERT_EQ(later.Verify(), "");
    }
  }
  EXPECT_GT(images, ScaledCount(4000));
}

}  // namespace
}  // namespace cambium::testing
