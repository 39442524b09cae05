// The versions of a key: a search for an old one must take few steps, and find exactly the version of its moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "memtable/jump_chain.h"
#include "memtable/memtable.h"
#include "memtable/record.h"
#include "testing/mutant_scope.h"

namespace cambium {
namespace {

constexpr const char* kKey = "counter";

// Version number i of the key has the sequence number 2 i.
class Chain {
 public:
  explicit Chain(std::size_t versions) {
    for (std::size_t i = 1; i <= versions; ++i) {
      memory_.push_back(std::make_unique<char[]>(Record::SizeOf(kKey, Entry::Tombstone(), newest_)));
      newest_ = Record::Write(memory_.back().get(), 2 * i, kKey, Entry::Tombstone(), newest_);
    }
  }
  [[nodiscard]] Record newest() const { return newest_; }
  // The number of versions that a search at read_seq steps over.
  [[nodiscard]] std::size_t StepsTo(SequenceNumber read_seq) const {
    std::size_t steps = 0;
    for (Record version = newest_; version && version.seq() > read_seq; ++steps)
      version = version.OlderTowards(read_seq);
    return steps;
  }

 private:
  std::vector<std::unique_ptr<char[]>> memory_;
  Record newest_;
};

// Counts the steps to each of 100,000 versions. A list without jumps would take up to 100,000.
TEST(VersionChainTest, AnyVersionIsFoundInLogarithmicSteps) {
  constexpr std::size_t kVersions = 100'000;
  const Chain chain(kVersions);
  const auto milestones = static_cast<std::size_t>(std::bit_width(kVersions / Record::kMilestoneEvery));
  const std::size_t steps_max = 3 * milestones + 2 * Record::kMilestoneEvery;
  std::size_t most = 0;
  for (SequenceNumber seq = 0; seq <= 2 * kVersions; ++seq) {
    const Record found = chain.newest().VisibleAt(seq);
    ASSERT_EQ(bool{found}, seq >= 2);
    ASSERT_TRUE(!found || found.seq() == seq / 2 * 2);
    most = std::max(most, chain.StepsTo(seq));
  }
  EXPECT_LE(most, steps_max);
  EXPECT_GT(most, Record::kMilestoneEvery) << "the search takes no steps at all";
}

// Links are right at each length: the writer sets them from the older versions alone.
TEST(VersionChainTest, LinksOfEachVersionFollowFromTheOlderOnes) {
  const Chain chain(3000);
  std::size_t versions = 0;
  std::size_t milestones = 0;
  for (Record version = chain.newest(); version; version = version.older()) {
    ASSERT_TRUE(version.LinksAreRight());
    ++versions;
    milestones += version.is_milestone() ? 1 : 0;
  }
  EXPECT_EQ(versions, 3000u);
  EXPECT_EQ(milestones, 3000u / Record::kMilestoneEvery);
}

TEST(VersionChainTest, NewestVersionTakesNoStep) { EXPECT_EQ(Chain(1000).StepsTo(kMaxSequenceNumber), 0u); }

TEST(VersionChainTest, FewVersionsTakeTheSameMemoryAsWithoutMilestones) {
  Record older;
  std::vector<std::unique_ptr<char[]>> memory;
  for (SequenceNumber seq = 1; seq < Record::kMilestoneEvery; ++seq) {
    const std::size_t size = Record::SizeOf(kKey, Entry::Tombstone(), older);
    EXPECT_EQ(size, 8 + 1 + 7 + (older ? 8 : 0));
    memory.push_back(std::make_unique<char[]>(size));
    older = Record::Write(memory.back().get(), seq, kKey, Entry::Tombstone(), older);
  }
}

bool EachSequenceNumberShowsItsVersion(const MemTable& table, SequenceNumber last) {
  for (SequenceNumber seq = 1; seq <= last; ++seq) {
    Entry entry;
    SequenceNumber found = 0;
    if (!table.Find(kKey, seq, &entry, &found) || found != seq) return false;
    const auto cursor = table.NewCursor(seq);
    cursor->SeekToFirst();
    if (!cursor->Valid() || cursor->entry().inline_value != Slice(std::to_string(seq))) return false;
    cursor->SeekToLast();
    if (!cursor->Valid() || cursor->entry().inline_value != Slice(std::to_string(seq))) return false;
  }
  return true;
}

// Rule D8: the mutant jumps without looking at where it lands, and shows versions from before the snapshot's.
TEST(VersionChainTest, EachSequenceNumberShowsExactlyItsVersion) {
  MemTable table(BytewiseComparator());
  constexpr SequenceNumber kLast = 1000;
  for (SequenceNumber seq = 1; seq <= kLast; ++seq) {
    const std::string value = std::to_string(seq);
    ASSERT_TRUE(table.Reserve(1, 7 + value.size()).ok());
    table.Add(seq, kKey, Entry::Inline(value));
  }
  EXPECT_TRUE(EachSequenceNumberShowsItsVersion(table, kLast));
  EXPECT_TRUE(table.CheckInvariants().ok()) << table.CheckInvariants().ToString();
  const testing::MutantScope mutant(Mutant::kVersionJumpPassesResult);
  EXPECT_FALSE(EachSequenceNumberShowsItsVersion(table, kLast));
}

}  // namespace
}  // namespace cambium
