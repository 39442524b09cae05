// Tests cursors over the versions between two sequence numbers: they show what a walk over the memtable shows, and take
// few comparisons in a large memtable.
#include "memtable/version_list.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "testing/counting_comparator.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

class FilledTable {
 public:
  explicit FilledTable(const Comparator* order) : table_(order) {}
  void Put(const std::string& key) {
    ASSERT_TRUE(table_.Reserve(1, key.size() + 8).ok());
    const std::string value = std::to_string(++last_);
    table_.Add(last_, key, Entry::Inline(value));
  }
  void Delete(const std::string& key) {
    ASSERT_TRUE(table_.Reserve(1, key.size()).ok());
    table_.Add(++last_, key, Entry::Tombstone());
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_TRUE(table_.Reserve(0, begin.size() + end.size(), 1).ok());
    table_.AddRange(++last_, begin, end);
  }
  [[nodiscard]] const MemTable& table() const { return table_; }
  [[nodiscard]] SequenceNumber last() const { return last_; }

 private:
  MemTable table_;
  SequenceNumber last_ = 0;
};

std::string Padded(std::uint64_t i) { return std::to_string(1'000'000 + i); }

std::vector<std::string> Shown(EntryCursor* cursor, bool forward) {
  std::vector<std::string> shown;
  for (forward ? cursor->SeekToFirst() : cursor->SeekToLast(); cursor->Valid();
       forward ? cursor->Next() : cursor->Prev()) {
    const Entry entry = cursor->entry();
    const bool has_value = entry.kind == EntryKind::kInline;
    shown.push_back(cursor->key().ToString() + (has_value ? "=" + entry.inline_value.ToString() : " deleted") + "@" +
                    std::to_string(entry.version()));
  }
  return shown;
}

std::string KeyAfterSeek(EntryCursor* cursor, const std::string& target, bool forward) {
  forward ? cursor->Seek(target) : cursor->SeekForPrev(target);
  return cursor->Valid() ? cursor->key().ToString() : "";
}

// Random writes and ranges: both cursors must show the same between all kinds of sequence numbers.
TEST(VersionListTest, AgreesWithALinearWalk) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x7e5);
  for (std::uint64_t round = 0; round < testing::ScaledCount(40); ++round) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + ", round " + std::to_string(round));
    Prng prng(seed + round);
    FilledTable filled(BytewiseComparator());
    const std::uint64_t keys = 1 + prng.Uniform(200);
    for (std::uint64_t i = prng.Uniform(600); i > 0; --i) {
      const std::string key = Padded(prng.Uniform(keys));
      const std::uint64_t what = prng.Uniform(20);
      if (what < 14) {
        filled.Put(key);
      } else if (what < 18 || round % 2 == 0) {
        filled.Delete(key);
      } else {
        filled.DeleteRange(key, key + "x" + Padded(prng.Uniform(keys)));
      }
    }
    const VersionList list(&filled.table());
    for (int look = 0; look < 50; ++look) {
      const SequenceNumber read = prng.Uniform(filled.last() + 2);
      const SequenceNumber after = prng.Uniform(read + 1);
      const HasVersions has = look % 2 == 0 ? HasVersions::kYes : HasVersions::kNo;
      const auto walk = filled.table().NewCursor(read, after, has);
      const auto listed = list.NewCursor(read, after, has);
      for (const bool forward : {true, false}) {
        ASSERT_EQ(Shown(listed.get(), forward), Shown(walk.get(), forward)) << after << " to " << read;
        const std::string target = Padded(prng.Uniform(keys));
        ASSERT_EQ(KeyAfterSeek(listed.get(), target, forward), KeyAfterSeek(walk.get(), target, forward)) << target;
      }
    }
  }
}

TEST(VersionListTest, FewVersionsOfManyKeysTakeFewComparisons) {
  const testing::CountingComparator order;
  FilledTable filled(&order);
  constexpr std::uint64_t kKeys = 20'000;
  for (std::uint64_t i = 0; i < 2 * kKeys; ++i) filled.Put(Padded(i * 7919 % kKeys));
  const VersionList list(&filled.table());
  static_cast<void>(order.TakeCount());
  for (SequenceNumber after = 0; after + 16 <= filled.last(); after += 997) {
    const auto listed = list.NewCursor(after + 16, after);
    EXPECT_EQ(Shown(listed.get(), true).size(), 16u);
    ASSERT_LE(order.TakeCount(), 16u * 10);
  }
  const auto walk = filled.table().NewCursor(filled.last(), filled.last() - 16);
  EXPECT_EQ(Shown(walk.get(), true).size(), 16u);
  EXPECT_GT(order.TakeCount(), 1000u) << "a walk takes as few";
}

}  // namespace
}  // namespace cambium
