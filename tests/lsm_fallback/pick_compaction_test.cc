// Tables of layers, with the compaction that is chosen for them. A file is written "number:first-last". Sizes have no
// unit: a target file has size 10, and level 1 has size 40.
#include "lsm_fallback/pick_compaction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <sstream>

#include "testing/mutant_scope.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kFull = 10;  // the size of a file whose text has none

// Owns what a CompactionShape borrows. Copies share it.
class Shape {
 public:
  Shape() {
    shape.comparator = BytewiseComparator();
    shape.step_bytes = 1;  // no neighbours join, and slices are as small as possible
  }

  // Adds "7:a-c", "7:a-c=25" (size) or "7:a-c+3" (tombstones, of 10 entries), the last two in any order.
  const RunInfo* Add(const std::string& text) {
    RunInfo& file = files_->emplace_back();
    std::istringstream in(text);
    char sign = 0;
    in >> file.number >> sign;
    std::getline(in, file.smallest_key, '-');
    file.file_size = kFull;
    file.root.entry_count = 10;
    while (in.get(sign)) {
      std::uint64_t number = 0;
      if (sign == '=') {
        in >> number;
        file.file_size = number;
      } else if (sign == '+') {
        in >> number;
        file.tombstone_count = number;
      } else {
        file.largest_key.push_back(sign);
      }
    }
    return &file;
  }

  Shape& Runs(const std::vector<std::string>& newest_first) {
    for (const std::string& text : newest_first) shape.runs.push_back(Add(text));
    return *this;
  }
  Shape& Tier(std::uint32_t level, std::uint64_t number, const std::vector<std::string>& files) {
    TierShape& tier = shape.tiers.emplace_back();
    tier.level = level;
    tier.number = number;
    for (const std::string& text : files) tier.files.push_back(Add(text));
    return *this;
  }
  // Adds a range delete to the file with this number, whose span must include it.
  Shape& Range(std::uint64_t number, const std::string& begin, const std::string& end) {
    const auto file = std::ranges::find(*files_, number, &RunInfo::number);
    ++file->range_delete_count;
    ranges_->push_back(RangeDeletes(BytewiseComparator(), {{begin, end}}));
    shape.ranges[number] = &ranges_->back();
    return *this;
  }
  Shape& Step(std::uint64_t bytes) {
    shape.step_bytes = bytes;
    return *this;
  }

  CompactionShape shape;

 private:
  std::shared_ptr<std::deque<RunInfo>> files_ = std::make_shared<std::deque<RunInfo>>();
  std::shared_ptr<std::deque<RangeDeletes>> ranges_ = std::make_shared<std::deque<RangeDeletes>>();
};

CompactionPolicy Policy(CompactionStyle style) {
  CompactionPolicy policy;
  policy.style = style;
  policy.target_file_size_base = 10;
  policy.max_bytes_for_level_base = 40;
  policy.max_bytes_for_level_multiplier = 10;
  return policy;
}

std::string Numbers(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) text += (text.empty() ? "" : " ") + std::to_string(number);
  return text;
}

// Shows a choice as "compact 0 -> 1.0: 4 3 | 2 1 [d, m)": levels and output tier, inputs, overlapped files, slice.
std::string Show(const CompactionChoice& choice) {
  if (choice.kind == CompactionChoice::Kind::kNothing) return "nothing";
  std::string text = choice.kind == CompactionChoice::Kind::kMove ? "move " : "compact ";
  text += std::to_string(choice.level) + " -> " + std::to_string(choice.output_level) + "." +
          std::to_string(choice.output_tier) + ": " + Numbers(choice.inputs);
  if (!choice.overlapped.empty()) text += " | " + Numbers(choice.overlapped);
  if (choice.begin.has_value() || choice.end.has_value()) {
    text += " [" + choice.begin.value_or("") + ", " + choice.end.value_or("") + ")";
  }
  return text;
}

struct Case {
  const char* why;
  Shape shape;
  std::string expected;
};

void Expect(const std::vector<Case>& table, const CompactionPolicy& policy) {
  for (const Case& row : table) EXPECT_EQ(Show(PickCompaction(row.shape.shape, policy)), row.expected) << row.why;
}

// Level 1 has six files, two more than its size allows.
Shape SixFiles(const std::vector<std::string>& below) {
  return Shape().Tier(1, 0, {"11:a-c", "12:d-f", "13:g-i", "14:j-l", "15:m-o", "16:p-r"}).Tier(2, 0, below);
}

TEST(PickCompactionTest, LeveledTakesExcessFilesTogether) {
  Expect(
      {
          {"two of them share a file below, which is merged once", SixFiles({"1:b-e", "2:f-h", "3:i-z"}),
           "compact 1 -> 2.0: 14 15 | 3"},
          {"as many as exceed the size, and no more", SixFiles({"3:a-z"}), "compact 1 -> 2.0: 11 12 | 3"},
          {"fewer if they would overlap more than one file may", SixFiles({"4:i-n=60", "3:o-z=60"}),
           "compact 1 -> 2.0: 14 | 4"},
          {"a step does not wrap around after the last file", SixFiles({"1:b-e", "2:f-h", "3:p-z"}),
           "compact 1 -> 2.0: 16 | 3"},
          {"the file that covers most below goes first, with files after it",
           SixFiles({"1:b-c", "2:d-e", "3:f-z"}).Range(12, "d", "f"), "compact 1 -> 2.0: 12 13 | 2 3"},
      },
      Policy(kCompactionStyleLevel));
}

// Four runs of 10 above level 1, which has its full size of 40: half of these 80 is excess.
Shape RunsAboveFour(const std::vector<std::string>& below) {
  return Shape()
      .Runs({"24:a-z", "23:a-z", "22:a-z", "21:a-z"})
      .Tier(1, 0, {"11:a-f", "12:g-l", "13:m-r", "14:s-z"})
      .Tier(2, 3, below);
}

TEST(PickCompactionTest, ExcessOfLevelOneGoesToLevelTwo) {
  const auto picked = [](const Shape& shape) {
    const CompactionChoice choice = PickCompaction(shape.shape, Policy(kCompactionStyleLevel));
    if (!choice.through.has_value()) return Show(choice);
    return Show(choice) + " through " + std::to_string(choice.through->tier) + " [" +
           choice.through->begin.value_or("") + ", " + choice.through->end.value_or("") + ")";
  };
  EXPECT_EQ(picked(RunsAboveFour({"4:a-e", "1:h-k", "2:n-q", "3:t-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11 12 13 14 1 2 through 3 [h, t)")
      << "the turn is at the file after the newest, and half of level 1 is above these two";
  EXPECT_EQ(picked(RunsAboveFour({"1:a-e", "4:h-k", "2:n-q", "3:t-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11 12 13 14 2 3 through 3 [n, )")
      << "up to the last key";
  EXPECT_EQ(picked(RunsAboveFour({"1:a-e", "2:h-k", "3:n-q", "4:t-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11 12 13 14 1 2 through 3 [, n)")
      << "after the last file a turn starts again";
  EXPECT_EQ(picked(RunsAboveFour({"4:a-e", "1:h-k=90", "2:n-q=90", "3:t-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11 12 13 14 1 through 3 [h, n)")
      << "no more than one file of level 1 may overlap";
  EXPECT_EQ(picked(Shape()
                       .Runs({"24:a-z=5", "23:a-z=5", "22:a-z=5", "21:a-z=5"})
                       .Tier(1, 0, {"11:a-l", "12:m-z"})
                       .Tier(2, 3, {"1:a-k", "2:n-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11 12")
      << "level 1 has room";
  EXPECT_EQ(picked(Shape()
                       .Runs({"24:a-c", "23:a-c", "22:a-c", "21:a-c"})
                       .Tier(1, 0, {"11:a-f", "12:g-l", "13:m-r", "14:s-z"})
                       .Tier(2, 3, {"1:a-k", "2:n-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11")
      << "most of level 1 is not an input";
  EXPECT_EQ(picked(Shape()
                       .Runs({"24:a-z", "23:a-z", "22:a-z", "21:a-z"})
                       .Tier(1, 0, {"11:a-f", "12:g-l", "13:m-r", "14:s-z"})),
            "compact 0 -> 1.0: 24 23 22 21 | 11 12 13 14")
      << "there is no level 2";
}

TEST(PickCompactionTest, LeveledChoicesForRuns) {
  Expect(
      {
          {"an empty family", Shape(), "nothing"},
          {"three runs wait for a fourth", Shape().Runs({"3:a-z=5", "2:a-z=5", "1:a-z=5"}), "nothing"},
          {"four runs are compacted together", Shape().Runs({"4:a-z=5", "3:a-z=5", "2:a-z=5", "1:a-z=5"}),
           "compact 0 -> 1.0: 4 3 2 1"},
          {"a run as large as level 1 is due alone", Shape().Runs({"2:a-z=40"}).Tier(1, 0, {"1:c-d"}),
           "compact 0 -> 1.0: 2 | 1"},
          {"with what they overlap in level 1, and nothing else",
           Shape().Runs({"14:e-k", "13:f-m", "12:g-h", "11:g-h"}).Tier(1, 0, {"1:a-d", "2:e-f", "3:i-m", "4:n-z"}),
           "compact 0 -> 1.0: 14 13 12 11 | 2 3"},
          {"runs that overlap nothing, not even each other, move",
           Shape().Runs({"14:s-t", "13:q-r", "12:o-p", "11:m-n"}).Tier(1, 0, {"1:a-d"}),
           "move 0 -> 1.0: 14 13 12 11"},
          {"with one key in common they are merged",
           Shape().Runs({"14:s-t", "13:q-s", "12:o-p", "11:m-n"}).Tier(1, 0, {"1:a-d"}),
           "compact 0 -> 1.0: 14 13 12 11"},
          {"a file of level 1 between them is not skipped",
           Shape().Runs({"14:s-t", "13:q-r", "12:c-d", "11:a-b"}).Tier(1, 0, {"1:m-n"}),
           "compact 0 -> 1.0: 14 13 12 11 | 1"},
          {"a run larger than two target files does not move",
           Shape().Runs({"14:s-t=21", "13:q-r", "12:o-p", "11:m-n"}), "compact 0 -> 1.0: 14 13 12 11"},
          {"small runs are joined",
           Shape().Runs({"14:s-t=1", "13:q-r=1", "12:o-p=1", "11:m-n=1"}),
           "compact 0 -> 1.0: 14 13 12 11"},
          {"tombstones without older entries are not moved",
           Shape().Runs({"14:s-t+1", "13:q-r", "12:o-p", "11:m-n"}), "compact 0 -> 1.0: 14 13 12 11"},
          {"tombstones above older entries are moved",
           Shape().Runs({"14:s-t+1", "13:q-r", "12:o-p", "11:m-n"}).Tier(2, 0, {"1:s-t"}),
           "move 0 -> 1.0: 14 13 12 11"},
          {"no file moves above more than ten target files of level 2",
           Shape().Runs({"14:s-t", "13:q-r", "12:o-p", "11:m-n"}).Tier(2, 0, {"1:s-t=101"}),
           "compact 0 -> 1.0: 14 13 12 11"},
      },
      Policy(kCompactionStyleLevel));
}

TEST(PickCompactionTest, LeveledChoicesForLevels) {
  Expect(
      {
          {"a level at its size is due",
           Shape().Tier(1, 0, {"1:a-b", "2:c-d", "3:e-f", "4:g-h"}).Tier(2, 0, {"5:b-b"}), "move 1 -> 2.0: 2"},
          {"and a smaller one is not", Shape().Tier(1, 0, {"1:a-b", "2:c-d", "3:e-f", "4:g-h=9"}), "nothing"},
          {"the turn is at the file that begins at or after the newest file below",
           Shape().Tier(1, 0, {"1:a-b", "2:c-d", "3:e-f", "4:g-h"}).Tier(2, 0, {"7:a-c", "9:d-d", "8:e-z"}),
           "compact 1 -> 2.0: 3 | 8"},
          {"even if that file ends beyond the end of the last turn",
           Shape().Tier(1, 0, {"1:a-b", "2:e-f", "3:g-h", "4:i-j"}).Tier(2, 0, {"7:a-c", "9:d-e", "8:f-z"}),
           "compact 1 -> 2.0: 2 | 9 8"},
          {"after the last file the turns start again",
           Shape().Tier(1, 0, {"1:a-b", "2:c-d", "3:e-f", "4:g-h"}).Tier(2, 0, {"7:a-d", "8:h-z"}),
           "compact 1 -> 2.0: 1 | 7"},
          {"with all that the file overlaps",
           Shape().Tier(1, 0, {"1:a-m", "2:n-o", "3:p-q", "4:r-s"}).Tier(2, 0, {"5:a-b", "6:d-e", "7:m-n", "8:t-z"}),
           "compact 1 -> 2.0: 1 | 5 6 7"},
          {"neighbours join if they overlap nothing more",
           Shape().Step(20).Tier(1, 0, {"1:a-b", "2:c-d", "3:e-f", "4:g-h"}).Tier(2, 0, {"7:a-f", "8:g-z"}),
           "compact 1 -> 2.0: 4 | 8"},
          {"on both sides, within the bytes of a step",
           Shape().Step(20).Tier(1, 0, {"1:b-b", "2:c-d", "3:e-f", "4:g-h"}).Tier(2, 0, {"7:a-b", "8:c-z"}),
           "compact 1 -> 2.0: 2 3 4 | 8"},
          {"the level furthest beyond its size goes first",
           Shape().Tier(1, 0, {"1:a-b=50"}).Tier(2, 0, {"2:a-b=800"}).Tier(3, 0, {"3:a-b"}), "compact 2 -> 3.0: 2 | 3"},
          {"runs compete with levels",
           Shape().Runs({"9:a-b", "8:a-b", "7:a-b", "6:a-b", "5:a-b"}).Tier(1, 0, {"1:a-b=45"}),
           "compact 0 -> 1.0: 9 8 7 6 5 | 1"},
          {"a file that mostly deletes counts what it deletes",
           Shape().Tier(1, 0, {"1:a-b+10", "2:c-d+10"}).Tier(2, 0, {"3:a-d=20"}), "compact 1 -> 2.0: 1 | 3"},
          {"but not where there is nothing to delete", Shape().Tier(1, 0, {"1:a-b+10", "2:c-d+10"}), "nothing"},
          {"the last level only grows", Shape().Tier(6, 0, {"1:a-b=900000000"}), "nothing"},
          {"several tiers left by another style are compacted",
           Shape().Tier(1, 3, {"3:a-f"}).Tier(1, 2, {"2:c-h"}).Tier(2, 0, {"1:a-z"}), "compact 1 -> 2.0: 3 2 | 1"},
          {"and until then new tiers are put on top",
           Shape().Runs({"9:a-b", "8:a-b", "7:a-b", "6:a-b", "5:a-b", "4:a-b", "10:a-b", "11:a-b", "12:a-b"})
               .Tier(1, 3, {"3:a-f"}).Tier(1, 2, {"2:c-h"}).Tier(2, 0, {"1:a-z"}),
           "compact 0 -> 1.4: 9 8 7 6 5 4 10 11 12"},
      },
      Policy(kCompactionStyleLevel));
}

TEST(PickCompactionTest, RangeDeletesAreCompactedSoon) {
  Expect(
      {
          {"a run that covers files of the size of level 1 is due",
           Shape().Runs({"9:a-z=1"}).Tier(2, 0, {"1:c-d=20", "2:e-f=20"}).Range(9, "b", "g"), "move 0 -> 1.0: 9"},
          {"one that covers them partly is not",
           Shape().Runs({"9:a-z=1"}).Tier(2, 0, {"1:c-d=20", "2:e-f=20"}).Range(9, "b", "f"), "nothing"},
          {"nor one next to them",
           Shape().Runs({"9:a-z=1"}).Tier(2, 0, {"1:c-d=20", "2:e-f=20"}).Range(9, "g", "z"), "nothing"},
          {"in a level, the covering file goes first",
           Shape().Tier(1, 0, {"8:a-b", "9:c-z"}).Tier(2, 0, {"1:a-b", "2:e-f=40"}).Range(9, "c", "g"),
           "compact 1 -> 2.0: 9 | 2"},
          {"a range above nothing is no reason to write", Shape().Tier(1, 0, {"9:c-z"}).Range(9, "c", "g"), "nothing"},
          {"and it is dropped, not moved, if nothing is left to delete",
           Shape().Runs({"9:a-z", "8:a-b", "7:a-b", "6:a-b"}).Tier(1, 0, {"2:e-f"}).Range(9, "c", "g"),
           "compact 0 -> 1.0: 9 8 7 6 | 2"},
      },
      Policy(kCompactionStyleLevel));
}

TEST(PickCompactionTest, LazyLeveledChoices) {
  Expect(
      {
          {"the only level is the last one: runs are merged with it",
           Shape().Runs({"9:a-b", "8:a-b", "7:a-b", "6:a-b"}).Tier(1, 0, {"1:a-c"}), "compact 0 -> 1.0: 9 8 7 6 | 1"},
          {"a last level at its size becomes the next level, without a rewrite",
           Shape().Tier(1, 0, {"1:a-b", "2:c-d+1", "3:e-f", "4:g-h"}), "move 1 -> 2.0: 1 2 3 4"},
          {"above it runs become a tier", Shape().Runs({"9:a-b", "8:a-b", "7:a-b", "6:a-b"}).Tier(2, 0, {"1:a-c"}),
           "compact 0 -> 1.0: 9 8 7 6"},
          {"and another one on top",
           Shape().Runs({"9:a-b", "8:a-b", "7:a-b", "6:a-b"}).Tier(1, 4, {"2:a-b"}).Tier(2, 0, {"1:a-c"}),
           "compact 0 -> 1.5: 9 8 7 6"},
          {"or join the newest tier, if they share no key with it",
           Shape().Runs({"9:a-b", "8:a-b", "7:a-b", "6:a-b"}).Tier(1, 4, {"2:c-d"}).Tier(2, 0, {"1:a-c"}),
           "compact 0 -> 1.4: 9 8 7 6"},
          {"all tiers of a full level are compacted together",
           Shape().Tier(1, 2, {"4:a-f=20"}).Tier(1, 1, {"3:c-h=20"}).Tier(2, 0, {"1:b-c", "2:x-z"}),
           "compact 1 -> 2.0: 4 3 | 1 [, x)"},
          {"and so are many small ones",
           Shape()
               .Tier(1, 9, {"19:a-b=1"}).Tier(1, 8, {"18:a-b=1"}).Tier(1, 7, {"17:a-b=1"}).Tier(1, 6, {"16:a-b=1"})
               .Tier(1, 5, {"15:a-b=1"}).Tier(1, 4, {"14:a-b=1"}).Tier(1, 3, {"13:a-b=1"}).Tier(1, 2, {"12:a-b=1"})
               .Tier(1, 1, {"11:a-b=1"}).Tier(1, 0, {"10:a-b=1"}).Tier(2, 0, {"1:a-b"}),
           "compact 1 -> 2.0: 19 18 17 16 15 14 13 12 11 10 | 1"},
          {"in a level that is not the last they become another tier",
           Shape().Tier(1, 2, {"4:a-f=20"}).Tier(1, 1, {"3:c-h=20"}).Tier(2, 6, {"2:a-z"}).Tier(3, 0, {"1:a-z"}),
           "compact 1 -> 2.7: 4 3"},
          {"a slice ends at a file border below once it has enough bytes",
           Shape().Tier(1, 2, {"4:a-f=40"}).Tier(1, 1, {"3:c-z=40"}).Tier(
               2, 0, {"5:b-c", "6:d-e", "7:f-g", "8:h-i=9", "2:u-v", "1:x-z"}),
           "compact 1 -> 2.0: 3 | 2 1 [u, )"},
          {"the next slice begins there",
           Shape().Tier(1, 2, {"4:a-f=40"}).Tier(1, 1, {"3:c-z=40"}).Tier(
               2, 0, {"5:b-c", "16:d-e", "7:f-g", "8:h-i", "2:u-v", "1:x-z"}),
           "compact 1 -> 2.0: 4 3 | 7 8 [f, u)"},
          {"files below without input are skipped",
           Shape().Tier(1, 2, {"4:x-y=40"}).Tier(1, 1, {"3:w-z=40"}).Tier(2, 0, {"6:b-c", "5:d-e", "1:x-z"}),
           "compact 1 -> 2.0: 4 3 | 1 [d, )"},
          {"a load in key order only moves",
           Shape().Tier(1, 0, {"5:p-q=20", "6:r-s=20"}).Tier(2, 0, {"1:a-b", "2:c-d"}), "move 1 -> 2.0: 5 6"},
      },
      Policy(kCompactionStyleLazyLevel));
}

TEST(PickCompactionTest, SizesGrowFromLevelToLevel) {
  CompactionPolicy policy = Policy(kCompactionStyleLevel);
  policy.target_file_size_multiplier = 2;
  EXPECT_EQ(policy.TargetFileSize(1), 10u);
  EXPECT_EQ(policy.TargetFileSize(4), 80u);
  EXPECT_EQ(policy.TargetLevelSize(1), 40);
  EXPECT_EQ(policy.TargetLevelSize(3), 4000);
  policy.target_file_size_base = ~std::uint64_t{0};
  policy.target_file_size_multiplier = 100;
  EXPECT_GT(policy.TargetFileSize(60) * kGrandparentFiles, policy.TargetFileSize(60)) << "no overflow";
}

TEST(PickCompactionTest, FollowsTheUsersTriggers) {
  CompactionPolicy policy = Policy(kCompactionStyleLevel);
  const Shape shape = Shape().Runs({"2:a-b", "1:a-b"});
  EXPECT_EQ(Show(PickCompaction(shape.shape, policy)), "nothing");
  policy.level0_file_num_compaction_trigger = 2;
  EXPECT_EQ(Show(PickCompaction(shape.shape, policy)), "compact 0 -> 1.0: 2 1");
  policy.num_levels = 3;
  const Shape deep = Shape().Tier(2, 0, {"1:a-b=90000"});
  EXPECT_EQ(Show(PickCompaction(deep.shape, policy)), "nothing") << "level 2 is the last of three";
  policy.num_levels = 4;
  EXPECT_EQ(Show(PickCompaction(deep.shape, policy)), "compact 2 -> 3.0: 1");
}

TEST(PickCompactionTest, PickRunsTakesRunsThatAreNotDue) {
  EXPECT_EQ(Show(PickRuns(Shape().shape, Policy(kCompactionStyleLevel))), "nothing");
  const Shape shape = Shape().Runs({"2:a-b"}).Tier(1, 0, {"1:b-c"});
  EXPECT_EQ(Show(PickRuns(shape.shape, Policy(kCompactionStyleLevel))), "compact 0 -> 1.0: 2 | 1");
}

constexpr std::uint64_t kMiB = 1u << 20;

// Rule C1: a compaction that does not fit into the room is done in parts that do.
CompactionPolicy Within(const CompactionPolicy& policy, std::uint64_t room) {
  return policy.Within({.standing = room, .step = room});
}

TEST(WithinRoomTest, UpperLevelsAndFilesArePartsOfTheRoom) {
  const CompactionPolicy full;
  const CompactionPolicy within = Within(full, 64 * kMiB);
  EXPECT_TRUE(within.is_lazy());
  EXPECT_EQ(within.TargetLevelSize(1), 8 * kMiB);
  EXPECT_EQ(within.TargetFileSize(2), kMiB);
  EXPECT_EQ(within.TargetLevelSize(2), full.TargetLevelSize(2)) << "the last level has no room to be part of";
  EXPECT_EQ(within.UpperLevelSize(2), 8 * kMiB) << "but a level above the last has";
  const CompactionPolicy least = Within(full, 0);
  EXPECT_EQ(least.TargetLevelSize(1), kMiB / 2);
  EXPECT_EQ(least.TargetFileSize(1), kMiB / 4);
  CompactionPolicy own;
  own.target_file_size_base = 64 << 10;
  EXPECT_EQ(Within(own, 64 * kMiB).TargetFileSize(1), 64u << 10) << "smaller files of the user's stay small";
  own.target_file_size_multiplier = 10;
  EXPECT_EQ(Within(own, 64 * kMiB).TargetFileSize(2), 640u << 10);
  EXPECT_EQ(Within(own, 64 * kMiB).TargetFileSize(3), kMiB) << "files of deeper levels have room too";
  const CompactionPolicy one_of_many = full.Within({.standing = kMiB, .step = 64 * kMiB});
  EXPECT_EQ(one_of_many.TargetLevelSize(1), kMiB / 2);
  EXPECT_EQ(one_of_many.TargetFileSize(1), kMiB) << "few families take steps at the same time";
}

TEST(WithinRoomTest, NothingChangesWhereFullLevelsFit) {
  const CompactionPolicy full;
  EXPECT_FALSE(Within(full, 2048 * kMiB).is_lazy());
  EXPECT_EQ(Within(full, 2048 * kMiB).TargetFileSize(1), full.TargetFileSize(1));
  EXPECT_TRUE(Within(full, 2047 * kMiB).is_lazy());
  EXPECT_FALSE(full.Within({}).is_lazy()) << "no ceiling";
  CompactionPolicy small;
  small.max_bytes_for_level_base = 8 * kMiB;
  EXPECT_FALSE(Within(small, 64 * kMiB).is_lazy());
  CompactionPolicy flat;
  flat.num_levels = 2;
  EXPECT_EQ(Within(flat, 64 * kMiB).TargetLevelSize(1), flat.TargetLevelSize(1)) << "it would only be merged more often";
}

// Compares the choices for the same layers with unlimited room and with little.
TEST(WithinRoomTest, StepsAreSmallerThanALevel) {
  const auto mib = [](std::uint64_t n) { return "=" + std::to_string(n * kMiB); };
  // A database of 64 MiB whose level 1 is all of it, and four runs.
  Shape shape;
  shape.Runs({"9:a-z" + mib(2), "8:a-z" + mib(2), "7:a-z" + mib(2), "6:a-z" + mib(2)});
  shape.Tier(1, 0, {"1:a-h" + mib(20), "2:i-p" + mib(20), "3:q-z" + mib(24)}).Step(4 * kMiB);
  const CompactionPolicy full;
  EXPECT_EQ(Show(PickCompaction(shape.shape, full)), "compact 0 -> 1.0: 9 8 7 6 | 1 2 3");
  const CompactionPolicy within = Within(full, 32 * kMiB);
  EXPECT_EQ(Show(PickCompaction(shape.shape, within)), "move 1 -> 2.0: 1 2 3") << "level 1 is too large to be merged";
  {
    const MutantScope mutant(Mutant::kLevelsIgnoreRoom);
    EXPECT_EQ(Show(PickCompaction(shape.shape, Within(full, 32 * kMiB))), "compact 0 -> 1.0: 9 8 7 6 | 1 2 3");
  }

  Shape moved;
  moved.Runs({"9:a-z" + mib(2), "8:a-z" + mib(2), "7:a-z" + mib(2), "6:a-z" + mib(2)});
  moved.Tier(2, 0, {"1:a-h" + mib(20), "2:i-p" + mib(20), "3:q-z" + mib(24)}).Step(4 * kMiB);
  EXPECT_EQ(Show(PickCompaction(moved.shape, within)), "compact 0 -> 1.0: 9 8 7 6") << "the runs alone";
  EXPECT_EQ(Show(PickRuns(moved.shape, within)), "compact 0 -> 1.0: 9 8 7 6") << "urgently, too";

  Shape tiers;
  tiers.Tier(1, 2, {"11:a-h" + mib(2), "12:i-p" + mib(2), "13:q-z" + mib(2)});
  tiers.Tier(1, 1, {"8:a-h" + mib(2), "9:i-p" + mib(2), "10:q-z" + mib(2)});
  tiers.Tier(2, 0, {"4:a-d" + mib(2), "5:e-h" + mib(2), "6:i-p" + mib(2), "7:q-z" + mib(2)}).Step(4 * kMiB);
  EXPECT_EQ(Show(PickCompaction(tiers.shape, within)), "compact 1 -> 2.0: 11 8 | 4 [, e)") << "a slice of all tiers";
  CompactionRequest all;
  ASSERT_TRUE(AdvanceRequest(tiers.shape, within, &all));
  EXPECT_EQ(Show(PickRequested(tiers.shape, within, &all)), "compact 1 -> 2.0: 11 8 | 4 [, e)") << "CompactRange, too";
}

CompactionRequest RequestOf(std::optional<std::string> begin, std::optional<std::string> end) {
  CompactionRequest request;
  request.begin = std::move(begin);
  request.end = std::move(end);
  request.runs = {9, 8, 7};
  return request;
}

// Returns the first step of a request.
std::string Requested(const Shape& shape, CompactionRequest request, CompactionStyle style = kCompactionStyleLevel) {
  if (!AdvanceRequest(shape.shape, Policy(style), &request)) return "done";
  return Show(PickRequested(shape.shape, Policy(style), &request));
}

TEST(PickRequestedTest, FollowsTheTable) {
  const CompactionRequest all = RequestOf({}, {});
  EXPECT_EQ(Requested(Shape(), all), "done");
  EXPECT_EQ(Requested(Shape().Runs({"8:a-b", "7:a-b"}).Tier(1, 0, {"1:b-c"}), all), "compact 0 -> 1.0: 8 7 | 1");
  EXPECT_EQ(Requested(Shape().Runs({"19:a-b"}).Tier(1, 0, {"1:b-c"}), all), "done")
      << "neither a later run nor the bottom is part of the request";
  EXPECT_EQ(Requested(Shape().Runs({"19:a-b", "8:a-b"}), all), "move 0 -> 1.0: 8");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"1:b-c", "2:d-e"}).Tier(2, 0, {"3:a-b"}), all), "compact 1 -> 2.0: 1 | 3");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"2:d-e"}).Tier(2, 0, {"3:a-c"}), all), "move 1 -> 2.0: 2");
  EXPECT_EQ(Requested(Shape().Tier(2, 0, {"3:a-c", "4:d-e"}), all), "done");
  EXPECT_EQ(Requested(Shape().Tier(2, 0, {"3:a-c", "4:d-e+1", "5:f-g+1", "6:h-i"}).Step(20), all),
            "compact 2 -> 2.0: 4 5") << "tombstones at the bottom are dropped";

  const CompactionRequest some = RequestOf("d", "f");
  EXPECT_EQ(Requested(Shape().Runs({"8:a-c", "7:g-h"}), some), "done");
  EXPECT_EQ(Requested(Shape().Runs({"8:a-c", "7:f-h"}), some), "move 0 -> 1.0: 7");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"1:a-c", "2:e-e", "5:g-h"}).Tier(2, 0, {"3:a-z"}), some),
            "compact 1 -> 2.0: 2 | 3");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"1:a-c", "5:g-h"}).Tier(2, 0, {"3:a-z"}), some), "done");

  EXPECT_EQ(Requested(Shape().Tier(1, 2, {"5:a-f=40"}).Tier(1, 1, {"4:c-z=40"}).Tier(
                          2, 0, {"13:b-c", "12:d-e=40", "11:g-g", "10:h-h"}),
                      some, kCompactionStyleLazyLevel),
            "compact 1 -> 2.0: 5 4 | 12 [d, g)");
}

// A request goes level by level, from the first key to the last. Files that appear before its position are not part of
// it.
TEST(PickRequestedTest, EndsDespiteLaterFiles) {
  const CompactionPolicy policy = Policy(kCompactionStyleLevel);
  CompactionRequest request;
  request.runs = {9};
  const auto next = [&](const Shape& shape) {
    return AdvanceRequest(shape.shape, policy, &request) ? Show(PickRequested(shape.shape, policy, &request)) : "done";
  };
  EXPECT_EQ(next(Shape().Runs({"9:a-z"}).Tier(1, 0, {"1:c-d"}).Tier(2, 0, {"2:a-z"})), "compact 0 -> 1.0: 9 | 1");
  EXPECT_EQ(next(Shape().Tier(1, 0, {"11:a-f", "12:g-m", "13:n-z"}).Tier(2, 0, {"2:a-z"})), "compact 1 -> 2.0: 11 | 2");
  EXPECT_EQ(next(Shape().Tier(1, 0, {"21:a-e", "12:g-m", "13:n-z"}).Tier(2, 0, {"14:a-z"})),
            "compact 1 -> 2.0: 12 | 14")
      << "21 is newer than the request";
  EXPECT_EQ(next(Shape().Tier(1, 0, {"21:a-e", "22:f-o", "23:p-zz", "24:zzz-zzzz"}).Tier(2, 0, {"25:a-z"})),
            "compact 1 -> 2.0: 22 | 25") << "it may hold keys of 13";
  EXPECT_EQ(next(Shape().Tier(1, 0, {"21:a-e", "26:f-o", "23:p-zz", "24:zzz-zzzz"}).Tier(2, 0, {"27:a-z"})),
            "compact 1 -> 2.0: 23 | 27");
  EXPECT_EQ(next(Shape().Tier(1, 0, {"21:a-e", "26:f-o", "24:zzz-zzzz"}).Tier(2, 0, {"28:a-z"})), "done")
      << "24 is beyond the last key that level 1 had";
}

// No value escapes the filter: files that could be moved are merged, and files of the bottom that are older than the
// request are rewritten.
TEST(PickRequestedTest, FilterRequestMovesNothingAndRewritesTheBottom) {
  CompactionRequest all = RequestOf({}, {});
  all.asks_filter = true;
  const auto filtered = std::make_shared<FilteredPart>(BytewiseComparator());
  filtered->AddFile(20);
  filtered->AddFile(21);
  all.filtered = filtered;
  EXPECT_EQ(Requested(Shape().Runs({"19:a-b", "8:a-b"}), all), "compact 0 -> 1.0: 8");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"2:d-e"}).Tier(2, 0, {"3:a-c"}), all), "compact 1 -> 2.0: 2");
  EXPECT_EQ(Requested(Shape().Tier(2, 0, {"3:a-c", "4:d-e"}).Step(20), all), "compact 2 -> 2.0: 3 4");
  EXPECT_EQ(Requested(Shape().Tier(2, 0, {"20:a-c", "4:d-e", "21:f-g", "5:h-i"}).Step(20), all), "compact 2 -> 2.0: 4");
  EXPECT_EQ(Requested(Shape().Tier(2, 0, {"20:a-c", "21:d-e"}), all), "done");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"20:a-c"}).Tier(2, 0, {"3:a-z"}), all), "compact 1 -> 2.0: 20 | 3")
      << "above the bottom, all files are compacted";
  all.begin = all.end = "d";
  EXPECT_EQ(Requested(Shape().Tier(2, 0, {"3:a-c", "4:d-e", "5:f-g"}).Step(20), all), "compact 2 -> 2.0: 4");
  all.only_runs = true;
  EXPECT_EQ(Requested(Shape().Runs({"8:d-f"}).Tier(2, 0, {"3:a-c"}), all), "compact 0 -> 1.0: 8");
  EXPECT_EQ(Requested(Shape().Tier(1, 0, {"2:d-e"}).Tier(2, 0, {"3:a-c"}), all), "done");
}

// The options change between AdvanceRequest and the step, so files and slices become smaller. (Regression: the request
// took the keys beyond the smaller slice for done.)
TEST(PickRequestedTest, ContinuesWhereTheStepActuallyEnded) {
  const Shape shape = Shape()
                          .Tier(1, 2, {"5:a-z=40"})
                          .Tier(1, 1, {"4:a-z=40"})
                          .Tier(2, 0, {"13:a-c=40", "12:d-f=40", "11:g-i=40", "10:j-z=40"})
                          .Step(1);
  CompactionPolicy large = Policy(kCompactionStyleLazyLevel);
  large.target_file_size_base = 1000;
  CompactionPolicy small = large;
  small.target_file_size_base = 1;
  CompactionRequest request = RequestOf({}, {});
  request.level = 1;
  ASSERT_TRUE(AdvanceRequest(shape.shape, large, &request));
  ASSERT_EQ(Show(PickRequested(shape.shape, small, &request)), "compact 1 -> 2.0: 5 4 | 13 [, d)");
  ASSERT_TRUE(AdvanceRequest(shape.shape, large, &request));
  EXPECT_EQ(request.position, "d");
}

// Mutant: the requested run is compacted alone, and ends up below an older one.
TEST(PickRequestedTest, RunTakesOlderOverlappingRunsAlong) {
  const CompactionRequest some = RequestOf("a", "b");
  const Shape shape = Shape().Runs({"9:b-f", "8:e-k", "7:x-z", "6:k-l"});
  EXPECT_EQ(Requested(shape, some), "compact 0 -> 1.0: 9 8 6");
  const MutantScope mutant(Mutant::kSkipOverlappingRun);
  EXPECT_EQ(Requested(shape, some), "move 0 -> 1.0: 9");
}

TEST(GrandparentsTest, GrandparentsAreInNextSingleTierLevel) {
  const Shape shape = Shape().Tier(1, 0, {"1:a-b"}).Tier(2, 1, {"2:a-b"}).Tier(2, 0, {"3:a-b"}).Tier(4, 0, {"4:a-b"});
  EXPECT_EQ(GrandparentsOf(shape.shape, 0), &shape.shape.tiers[0]);
  EXPECT_EQ(GrandparentsOf(shape.shape, 1), &shape.shape.tiers[3]);
  EXPECT_EQ(GrandparentsOf(shape.shape, 4), nullptr);
}

}  // namespace
}  // namespace cambium::testing
