// Values in the index on a full disk: deletes of any share of the keys succeed, and then puts are accepted again, in
// both indexes. Puts leave the room that a compaction takes, and on a full disk its steps free about what they take.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/space/full_disk.h"

namespace cambium::testing::full_disk_inline_test {
namespace {

constexpr Kind kHundred = {"100 B", 100, 101, 24 * kMiB};

enum class Order { kAsWritten, kEveryNth, kRandom, kRanges };

std::vector<std::string> Doomed(const Disk& disk, Order order, std::size_t percent, Prng* prng) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : disk.model) keys.push_back(key);
  if (order == Order::kAsWritten) {
    std::ranges::sort(keys, {}, [](const std::string& key) { return std::stoull(key.substr(3)); });
  }
  const std::size_t count = std::max<std::size_t>(1, keys.size() * percent / 100);
  if (order == Order::kRandom) {
    for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[prng->Uniform(i)]);
  }
  if (order == Order::kEveryNth) {
    for (std::size_t i = 0; i < count; ++i) keys[i] = keys[i * (keys.size() / count)];
  }
  keys.resize(count);
  return keys;
}

// Returns "" or the first error.
std::string Delete(Disk* disk, Order order, const std::vector<std::string>& keys) {
  if (order == Order::kRanges) {
    const std::string end = keys.back() + '\0';
    const Status s = disk->store->db->DeleteRange({}, disk->store->db->DefaultColumnFamily(), keys.front(), end);
    if (!s.ok()) return "a range: " + s.ToString() + "\n" + disk->Space();
    disk->model.erase(disk->model.find(keys.front()), disk->model.lower_bound(end));
    return "";
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Status s = disk->store->db->Delete({}, keys[i]);
    if (!s.ok()) {
      return "delete " + std::to_string(i) + " of " + std::to_string(keys.size()) + ": " + s.ToString() + "\n" +
             disk->Space();
    }
    disk->model.erase(keys[i]);
    disk->RunOneMaybe();
  }
  return "";
}

// Sizes of levels and files as users have them. With files of a few pages, each of which takes two more, a compaction of
// scattered tombstones would write ten times what it reads.
void UseDefaultSizes(Disk* disk) {
  Options& options = disk->store->options;
  options.target_file_size_base = Options().target_file_size_base;
  options.max_bytes_for_level_base = Options().max_bytes_for_level_base;
  options.max_bytes_for_level_multiplier = Options().max_bytes_for_level_multiplier;
  options.level0_file_num_compaction_trigger = Options().level0_file_num_compaction_trigger;
}

// Fills the disk, and for each of these shares deletes as many keys and fills the disk again.
std::string DeleteAndWriteAgain(Order order, const std::vector<std::size_t>& percents, std::uint64_t seed) {
  Disk disk(kHundred, false, seed);
  UseDefaultSizes(&disk);
  disk.store->MustOpen();
  disk.Fill();
  if (!disk.IsFull()) return "it is not full";
  Prng prng(seed);
  for (const std::size_t percent : percents) {
    const std::string step = std::to_string(percent) + " %: ";
    if (std::string wrong = Delete(&disk, order, Doomed(disk, order, percent, &prng)); !wrong.empty()) return step + wrong;
    disk.LetItRun();
    if (std::string wrong = disk.Check(); !wrong.empty()) return step + wrong;
    if (disk.IsFull()) return step + "the disk stays full\n" + disk.Space();
    const std::uint64_t least = percent < 10 ? 2 * kKiB : kHundred.quota * percent / 800;
    std::uint64_t again = disk.Fill();
    disk.LetItRun();
    again += disk.Fill();  // a rescue may have refused some puts
    if (again < least) return step + std::to_string(again) + " bytes could be put again\n" + disk.Space();
  }
  disk.store->Reopen();
  return disk.Check() + disk.store->Verify();
}

class InlineShareTest : public ::testing::TestWithParam<Order> {};

TEST_P(InlineShareTest, PutsAreAcceptedAgainAfterDeletes) {
  const std::uint64_t first = SeedFromEnvironment(17);
  for (std::uint64_t seed = first; seed < first + ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EXPECT_EQ(DeleteAndWriteAgain(GetParam(), {1, 10, 50, 100}, seed), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, InlineShareTest,
                         ::testing::Values(Order::kAsWritten, Order::kEveryNth, Order::kRandom, Order::kRanges));

// After deletes puts are accepted again, but not with the mutant. Whether the lack of a rule shows depends on what the
// disk holds when it becomes full, so several seeds are tried.
void ExpectCaught(Mutant rule, Order order, std::size_t percent, std::uint64_t first_seed) {
  constexpr std::uint64_t kSeeds = 6;
  for (std::uint64_t seed = first_seed; seed < first_seed + kSeeds; ++seed) {
    std::string without_rule;
    {
      const MutantScope mutant(rule);
      without_rule = DeleteAndWriteAgain(order, {percent}, seed);
    }
    if (!without_rule.starts_with(std::to_string(percent) + " %: ")) continue;
    EXPECT_EQ(DeleteAndWriteAgain(order, {percent}, seed), "") << "seed " << seed;
    return;
  }
  ADD_FAILURE() << "the mutant was not caught";
}

// Calls a function when the database says that the disk is full, and another one when it says that it no longer is.
class FullDiskLog : public Logger {
 public:
  void Log(InfoLogLevel, Slice line) override {
    if (line.ToString().find("the disk is full") != std::string::npos && on_full) on_full();
    if (line.ToString().find("the disk has space again") != std::string::npos && on_space) on_space();
  }
  std::function<void()> on_full;
  std::function<void()> on_space;
};

// A delete finds nothing free on a full disk. The rescue that it waits for finds much space, and ends the full state;
// right after that only half a megabyte is free. The same happens whenever the disk counts as full again. Returns how
// many rescues have ended.
int RescuesThatADeleteTakes() {
  Disk disk(kHundred, false, 104);
  const auto log = std::make_shared<FullDiskLog>();
  disk.store->options.info_log = log;
  UseDefaultSizes(&disk);
  disk.store->MustOpen();
  disk.Fill();
  EXPECT_TRUE(disk.IsFull());
  SimFileSystem& fs = *disk.store->fs;
  std::uint64_t quota = kHundred.quota;
  const auto leave = [&](std::uint64_t bytes) {
    std::uint64_t free = 0;
    EXPECT_TRUE(fs.FreeSpace("/db", &free).ok());
    quota = quota - free + bytes;
    fs.SetQuota(quota);
  };
  int ended = 0;
  log->on_space = [&] {
    leave(512 * kKiB);
    ++ended;
  };
  log->on_full = [&] { leave(16 * kMiB); };
  auto next = disk.model.begin();
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(disk.store->db->Delete({}, (next++)->first).ok());  // for a flush to write
  leave(0);
  bool is_raised = false;
  const int hook = fs.AddHook([&](const SimOp&) {
    if (!std::exchange(is_raised, true)) leave(16 * kMiB);
  });
  const Status deleted = disk.store->db->Delete({}, next->first);
  fs.RemoveHook(hook);
  EXPECT_TRUE(deleted.ok()) << deleted.ToString();
  return ended;
}

// Regression: a rescue ended the full state while a delete waited for it. The delete then had to leave the room that
// puts leave for compactions. There was less, so the delete made the disk count as full again, and waited for another
// rescue. After several rescues it failed.
TEST(FullDiskInlineTest, DeletesSucceedJustAfterARescue) {
  EXPECT_EQ(RescuesThatADeleteTakes(), 1);
  if (!TestsUseLsm()) {
    EXPECT_EQ(DeleteAndWriteAgain(Order::kRandom, {1, 10}, 104), "");  // here it was found
  }
  const MutantScope mutant(Mutant::kRetriedDeletesLeaveRoom);
  EXPECT_GT(RescuesThatADeleteTakes(), 1);
}

TEST(FullDiskInlineTest, PutsLeaveRoomForCompactions) {
  if (!TestsUseLsm()) GTEST_SKIP() << "a tree on this disk mostly accepts puts again without it";
  ExpectCaught(Mutant::kPutsLeaveNoRoomForSteps, Order::kRandom, 10, 17);
}

struct PutsOnAShortDisk {
  Status failed;            // of the first put that failed; OK: none
  bool has_waited = false;  // a put with no_slowdown was refused, and then passed without it
  bool is_full = false;     // after that put, or after all: only deletes are accepted
  std::string space;

  [[nodiscard]] std::string Text() const {
    return failed.ToString() + (has_waited ? ", has waited" : ", no put has waited") +
           (is_full ? ", the disk is full\n" : "\n") + space;
  }
};

// Half of the keys are deleted, and little is free. Puts go on if compactions make room for them.
PutsOnAShortDisk PutsWhileCompactionsMakeRoom() {
  Disk disk(kHundred, false, 9);
  UseDefaultSizes(&disk);
  disk.store->options.max_space_amplification = 0;  // otherwise writers wait for compactions at the ceiling
  disk.store->fs->SetQuota(100 * kMiB);
  disk.store->MustOpen();
  DB* const db = disk.store->db.get();
  Prng prng(9);
  for (int i = 0; i < 60'000; ++i) disk.store->Put("key" + std::to_string(i), prng.Bytes(100));
  disk.store->Compact();
  disk.LetItRun();
  for (int i = 0; i < 60'000; i += 2) EXPECT_TRUE(db->Delete({}, "key" + std::to_string(i)).ok());
  disk.store->Flush();
  disk.store->fs->SetQuota(disk.store->fs->probe().allocated_bytes() + 5 * kMiB / 2);
  WriteOptions at_once;
  at_once.no_slowdown = true;
  PutsOnAShortDisk puts;
  for (int i = 0; i < 15'000 && puts.failed.ok(); ++i) {
    const std::string key = "now" + std::to_string(i);
    const std::string value = prng.Bytes(100);
    puts.failed = db->Put(at_once, key, value);
    const bool may_not_wait = puts.failed.IsIncomplete();
    puts.has_waited = puts.has_waited || may_not_wait;
    if (may_not_wait) puts.failed = db->Put({}, key, value);
  }
  puts.is_full = disk.IsFull();
  puts.space = disk.Space();
  return puts;
}

TEST(FullDiskInlineTest, PutsWaitForCompactionsBeforeDiskCountsAsFull) {
  const PutsOnAShortDisk puts = PutsWhileCompactionsMakeRoom();
  EXPECT_TRUE(puts.failed.ok()) << puts.Text();
  EXPECT_TRUE(puts.has_waited) << puts.Text();
  EXPECT_FALSE(puts.is_full) << puts.Text();
  const MutantScope mutant(Mutant::kPutsLeaveNoRoomForSteps);
  const PutsOnAShortDisk refused = PutsWhileCompactionsMakeRoom();
  EXPECT_TRUE(refused.failed.ok() || refused.failed.IsNoSpace()) << refused.Text();
  EXPECT_TRUE(refused.is_full) << "the mutant has no effect: " << refused.Text();
}

TEST(FullDiskInlineTest, SweepStepsFreeTheSpaceThatTheyTake) {
  if (TestsUseLsm()) GTEST_SKIP() << "an LSM has no sweeps";
  ExpectCaught(Mutant::kStepsTakeAllOnFullDisk, Order::kRandom, 10, 17);
}

TEST(FullDiskInlineTest, FilesWithDeadPagesAreEmptied) {
  if (TestsUseLsm()) GTEST_SKIP() << "files of an LSM have no dead pages";
  ExpectCaught(Mutant::kKeepDeadPagesOnFullDisk, Order::kRandom, 10, 1);
}

// A flush that would rewrite most of a small tree makes a run if the disk has no room for that. Returns the number of
// runs.
std::uint64_t RunsAfterAFlush(std::uint64_t free_bytes) {
  Disk disk(kHundred, false, 3);
  UseDefaultSizes(&disk);
  disk.store->MustOpen();
  DB* const db = disk.store->db.get();
  const auto put = [&](int from, int step) {
    for (int i = from; i < 4'000; i += step) EXPECT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(100, 'v')).ok());
  };
  put(0, 1);
  EXPECT_TRUE(db->Flush({}).ok());
  disk.LetItRun();
  put(0, 4);
  std::uint64_t has = 0;
  EXPECT_TRUE(disk.store->fs->FreeSpace("/db", &has).ok());
  disk.store->fs->SetQuota(kHundred.quota - has + free_bytes);
  const Status flushed = db->Flush({});
  EXPECT_TRUE(flushed.ok()) << flushed.ToString() << disk.Space();
  std::uint64_t runs = 0;
  EXPECT_TRUE(db->GetIntProperty("cambium.num-runs", &runs));
  return runs;
}

TEST(FullDiskInlineTest, FlushesRewriteATreeOnlyIfThereIsRoom) {
  if (TestsUseLsm()) GTEST_SKIP() << "an LSM always makes runs";
  EXPECT_EQ(RunsAfterAFlush(8 * kMiB), 0u);
  EXPECT_EQ(RunsAfterAFlush(570 * kKiB), 1u);
  const MutantScope mutant(Mutant::kMergeWithoutRoom);
  EXPECT_EQ(RunsAfterAFlush(570 * kKiB), 0u);
}

// An iterator of the full database reads what was there, however much is deleted afterwards. When the iterator is gone,
// the space comes back.
std::string ReadOldView() {
  Disk disk(kHundred, false, 5);
  UseDefaultSizes(&disk);
  disk.store->MustOpen();
  disk.Fill();
  const auto before = disk.model;
  std::unique_ptr<Iterator> it(disk.store->db->NewIterator({}));
  Prng prng(5);
  for (const std::string& key : Doomed(disk, Order::kRandom, 100, &prng)) {
    if (!disk.store->db->Delete({}, key).ok()) break;  // the old pages stay
    disk.model.erase(key);
    disk.RunOneMaybe();
  }
  disk.LetItRun();
  std::size_t count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
    const auto found = before.find(it->key().ToString());
    if (found == before.end() || it->value() != Slice(found->second)) return it->key().ToString() + " is wrong";
  }
  if (!it->status().ok()) return it->status().ToString();
  if (count != before.size()) return std::to_string(count) + " keys of " + std::to_string(before.size());
  it.reset();
  disk.LetItRun();
  if (const Status s = disk.DeleteAll(Way::kShuffled); !s.ok()) return s.ToString() + "\n" + disk.Space();
  disk.LetItRun();
  return disk.IsFull() ? "the disk stays full\n" + disk.Space() : disk.Check() + disk.store->Verify();
}

TEST(FullDiskInlineTest, SpaceReturnsWhenOldIteratorEnds) { EXPECT_EQ(ReadOldView(), ""); }

}  // namespace
}  // namespace cambium::testing::full_disk_inline_test
