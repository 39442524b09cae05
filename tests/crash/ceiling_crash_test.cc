// Power cuts while a small database of inline values is kept below its ceiling: memtables are flushed early, level 0
// becomes tiers, and levels are compacted in slices (in a tree, sweeps begin early). Each cut leaves a prefix of the
// writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_image.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing::ceiling_crash_test {
namespace {

constexpr std::uint64_t kKeys = 4000;
constexpr std::size_t kValueBytes = 1000;

Options SmallCeiling(Options options) {
  UseIndexOfTest(&options);
  options.compaction_style = kCompactionStyleLevel;
  options.compression = kNoCompression;
  options.max_space_amplification = 1.5;
  options.min_blob_size = 4096;
  options.page_size = 4096;
  options.page_cache_size = 8u << 20;
  options.blob_file_size = 64u << 20;
  options.max_total_wal_size = 0;
  // All far larger than the database.
  options.write_buffer_size = 64u << 20;
  options.target_file_size_base = 64u << 20;
  options.max_bytes_for_level_base = 256u << 20;
  return options;
}

class CeilingCrashRun {
 public:
  explicit CeilingCrashRun(std::uint64_t seed) : prng_(seed) {
    store_.options = SmallCeiling(store_.options);
    store_.MustOpen();
  }

  void Run() {
    for (std::uint64_t i = 0; i < kKeys; ++i) Write(i, false);
    ASSERT_TRUE(store_.db->SyncWAL().ok());
    synced_ = writes_.size();
    const int hook = store_.fs->AddHook([this](const SimOp& op) {
      const bool is_index = op.path.ends_with(".run") || op.path.ends_with(".idx") ||
                            op.path.find("MANIFEST") != std::string::npos;
      if (op.phase != SimPhase::kBefore || !is_index || !prng_.OneIn(150)) return;
      cuts_.push_back({store_.fs->DrawCrash(prng_), synced_, writes_.size()});
    });
    for (int i = 0; i < 20'000; ++i) {
      Write(prng_.Uniform(kKeys), prng_.OneIn(5));
      if (i == 10'000) store_.Compact();
      if (!prng_.OneIn(500)) continue;
      ASSERT_TRUE(store_.db->SyncWAL().ok());
      synced_ = writes_.size();
    }
    store_.fs->RemoveHook(hook);
    std::string files;
    EXPECT_TRUE(!TestsUseLsm() || (store_.db->GetProperty("cambium.num-files-at-level2", &files) && files != "0"))
        << "level 1 was not kept small";
    EXPECT_EQ(store_.Verify(), "");
  }

  void CheckCuts() {
    for (const Cut& cut : cuts_) {
      TestStore later(std::make_shared<SimFileSystem>(cut.image));
      later.options = SmallCeiling(later.options);
      const Status opened = later.Open();
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      std::map<std::uint64_t, std::uint64_t> found;  // the number of the write of each key
      const std::unique_ptr<Iterator> it(later.db->NewIterator({}));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        found[std::stoull(it->key().ToString())] = std::stoull(it->value().ToString());
      }
      ASSERT_TRUE(it->status().ok()) << it->status().ToString();
      ASSERT_TRUE(IsPrefix(found, cut.least, cut.most)) << "no state from " << cut.least << " to " << cut.most;
      ASSERT_EQ(later.Verify(), "");
    }
  }
  [[nodiscard]] std::size_t cuts() const { return cuts_.size(); }

 private:
  struct Cut {
    SimImage image;
    std::size_t least;
    std::size_t most;
  };

  // A value is the number of its write, then padding.
  void Write(std::uint64_t key, bool deletes) {
    writes_.emplace_back(key, deletes);
    std::string number = std::to_string(writes_.size());
    number.insert(0, 12 - number.size(), '0');
    const Status s = deletes ? store_.db->Delete({}, std::to_string(key))
                             : store_.db->Put({}, std::to_string(key), number + " " + prng_.Bytes(kValueBytes));
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (writes_.size() % 64 == 0 && store_.executor->pending() > 0) store_.executor->RunOneInstead();
  }
  [[nodiscard]] bool IsPrefix(const std::map<std::uint64_t, std::uint64_t>& found, std::size_t least,
                              std::size_t most) const {
    std::size_t newest = least;
    for (const auto& [key, number] : found) newest = std::max<std::size_t>(newest, number);
    std::map<std::uint64_t, std::uint64_t> then;
    for (std::size_t i = 0; i < most; ++i) {
      writes_[i].second ? void(then.erase(writes_[i].first)) : void(then[writes_[i].first] = i + 1);
      if (i + 1 >= newest && then == found) return true;
    }
    return false;
  }

  TestStore store_;
  Prng prng_;
  std::vector<std::pair<std::uint64_t, bool>> writes_;  // key, deletes
  std::size_t synced_ = 0;
  std::vector<Cut> cuts_;
};

TEST(CeilingCrashTest, PowerCutsInSmallStepsLeaveAPrefix) {
  const std::uint64_t first = SeedFromEnvironment(0x72ce);
  for (std::uint64_t i = 0; i < ScaledCount(3); ++i) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(first + i));
    CeilingCrashRun run(first + i);
    run.Run();
    run.CheckCuts();
    if (::testing::Test::HasFailure()) return;
    std::printf("%zu cuts\n", run.cuts());
    EXPECT_GT(run.cuts(), 10u);
  }
}

}  // namespace
}  // namespace cambium::testing::ceiling_crash_test
