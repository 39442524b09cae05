// The encoding of an edit: it is complete, its bytes do not change, and malformed bytes do no harm.
#include "manifest/edit.h"

#include <gtest/gtest.h>

#include "manifest/edit_generator.h"
#include "manifest/fields.h"
#include "testing/seed.h"
#include "util/coding.h"

namespace cambium {
namespace {

using testing::EditGenerator;

Id128 IdOf(unsigned char first) {
  Id128 id;
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<unsigned char>(first + i);
  return id;
}

// Every field of every message once.
Edit FullEdit() {
  Edit edit;
  edit.database_id = IdOf(0x10);
  edit.epoch = 3;
  edit.next_file_number = 300;
  edit.last_sequence = 1000;
  edit.durable_sequence = 900;
  edit.replay = LogPosition{5, 4096};
  edit.replay_sequence = 777;
  edit.clean_shutdown = true;
  FamilyEdit& family = edit.families.emplace_back();
  family.id = 7;
  family.create = {"photos", IndexType::kBTree, "cambium.BytewiseComparator", 4096};
  family.flushed_sequence = 800;
  RunInfo run;
  run.number = 12;
  run.kind = RunKind::kCompaction;
  run.file_id = IdOf(0x20);
  run.root = {{MakePageId(12, 3, 1), 0x1122334455667788u}, 2, 40, 5000};
  run.tombstone_count = 4;
  run.file_size = 20480;
  run.footer_checksum = 0x99aabbccddeeff00u;
  run.smallest_key = "a";
  run.largest_key = "zz";
  run.range_delete_count = 6;
  run.largest_is_open = true;
  family.add_runs.push_back(run);
  family.layers = {12};
  family.root = TreeRoot{{MakePageId(13, 9, 2), 1}, 3, 100, 200};
  family.end_sweep = true;
  family.sweep = SweepState{{12}, "m"};
  family.set_index_segments.push_back({13, IdOf(0x30), 65536, 6});
  family.drop_index_segments = {14, 15};
  family.accounts.Add(Slot{2}, {3, 1500});
  family.accounts.Add(Slot{9}, {-1, -64});
  family.place_runs = {{12, 1, 0}, {11, 6, 200}};
  family.drop_level_runs = {10, 9};
  edit.set_segments.push_back({5, Slot{2}, SegmentKind::kRelocation, IdOf(0x40), 3, true, true, 8192, 9000, 999, 2, {}});
  edit.set_segments.back().punched = {128, 5000};
  edit.drop_segments = {4};
  edit.next_family_id = 300;
  edit.drop_families = {8, 9};
  edit.shadow_slots = {Slot{3}, Slot{6}};
  return edit;
}

TEST(EditTest, EditHasTheDocumentedBytes) {
  EXPECT_EQ(Slice(EncodeEdit(FullEdit())).ToString(true),
            "0110101112131415161718191a1b1c1d1e1f0201030302ac020402e807050284070605058020890607010108ee010101"
            "07022b010670686f746f73020101031a63616d6269756d2e4279746577697365436f6d70617261746f72040280200302"
            "a006045401010c0201020310202122232425262728292a2b2c2d2e2f041b0105c0818080030208887766554433221103"
            "010204012805028827050104060380a001070800ffeeddccbbaa9908016109027a7a0a01060b010105010c061b0105c1"
            "8480a003020801000000000000000301030401640502c801070101080601010c02016d091d01010d0210303132333435"
            "363738393a3b3c3d3e3f03038080040401060a020e0f0b070206b81709017f0c070c01000b06c8010d020a0909390101"
            "050201020301020410404142434445464748494a4b4c4d4e4f050103060101070101080280400902a8460a02e7070b01020c"
            "04800188260a01040b02ac020c0208090d020306");
}

// A database whose segments are not cut can be read by programs that know no cut.
TEST(EditTest, CutIsAnOptionalField) {
  Edit edit;
  edit.set_segments.push_back({5, Slot{2}, SegmentKind::kRelocation, IdOf(0x40), 3, true, true, 8192, 9000, 999, 2, {4000}});
  const std::string before = Slice(EncodeEdit(edit)).ToString(true);
  edit.set_segments.back().cut = 1024;
  const std::string bytes = EncodeEdit(edit);
  const std::string after = Slice(bytes).ToString(true);
  EXPECT_EQ(after.size(), before.size() + 8);
  EXPECT_EQ(after.substr(after.size() - 8), "0d028008");
  const Result<Edit> back = DecodeEdit(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->set_segments, edit.set_segments);
}

// A database in which no family keeps versions can be read by programs that know none.
TEST(EditTest, VersionsSinceIsAnOptionalField) {
  Edit edit;
  edit.families.emplace_back().id = 3;
  edit.families[0].drop_level_runs = {9};
  const std::string before = Slice(EncodeEdit(edit)).ToString(true);
  edit.families[0].versions_since = 300;
  const std::string bytes = EncodeEdit(edit);
  EXPECT_EQ(before, "0806" "010103" "0d0109");
  EXPECT_EQ(Slice(bytes).ToString(true), "080a" "010103" "0d0109" "0e02ac02");
  const Result<Edit> back = DecodeEdit(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->families[0].versions_since, edit.families[0].versions_since);
  edit.families[0].versions_since = 0;  // nothing was flushed yet
  EXPECT_EQ(DecodeEdit(EncodeEdit(edit))->families[0].versions_since, 0u);
}

// A database without small runs can be read by programs that do not know them.
TEST(EditTest, PageSizeOfARunIsAnOptionalField) {
  Edit edit = FullEdit();
  const std::string before = EncodeEdit(edit);
  edit.families[0].add_runs[0].page_size = 512;
  const std::string bytes = EncodeEdit(edit);
  EXPECT_EQ(bytes.size(), before.size() + 4);
  EXPECT_NE(Slice(bytes).ToString(true).find("0b0101" "0c028004"), std::string::npos);
  const Result<Edit> back = DecodeEdit(bytes);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->families[0].add_runs, edit.families[0].add_runs);
  std::string forged = bytes;
  const std::size_t field = bytes.find(std::string("\x0b\x01\x01\x0c\x02\x80\x04", 7));
  ASSERT_NE(field, std::string::npos);
  forged.replace(field + 5, 2, std::string("\x80\x00", 2));
  EXPECT_TRUE(DecodeEdit(forged).status().IsCorruption());
}

TEST(EditTest, EveryFieldIsReadBack) {
  const Edit edit = FullEdit();
  const Result<Edit> back = DecodeEdit(EncodeEdit(edit));
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(back->database_id, edit.database_id);
  EXPECT_EQ(back->epoch, edit.epoch);
  EXPECT_EQ(back->next_file_number, edit.next_file_number);
  EXPECT_EQ(back->last_sequence, edit.last_sequence);
  EXPECT_EQ(back->durable_sequence, edit.durable_sequence);
  EXPECT_EQ(back->replay, edit.replay);
  EXPECT_EQ(back->replay_sequence, edit.replay_sequence);
  EXPECT_EQ(back->next_family_id, edit.next_family_id);
  EXPECT_EQ(back->drop_families, edit.drop_families);
  EXPECT_EQ(back->clean_shutdown, edit.clean_shutdown);
  EXPECT_EQ(back->set_segments, edit.set_segments);
  EXPECT_EQ(back->drop_segments, edit.drop_segments);
  EXPECT_EQ(back->shadow_slots, edit.shadow_slots);
  ASSERT_EQ(back->families.size(), 1u);
  const FamilyEdit& family = back->families[0];
  const FamilyEdit& expected = edit.families[0];
  EXPECT_EQ(family.id, expected.id);
  ASSERT_TRUE(family.create.has_value());
  EXPECT_EQ(family.create->name, expected.create->name);
  EXPECT_EQ(family.create->index_type, expected.create->index_type);
  EXPECT_EQ(family.create->comparator, expected.create->comparator);
  EXPECT_EQ(family.create->page_size, expected.create->page_size);
  EXPECT_EQ(family.flushed_sequence, expected.flushed_sequence);
  EXPECT_EQ(family.add_runs, expected.add_runs);
  EXPECT_EQ(family.layers, expected.layers);
  EXPECT_EQ(family.root, expected.root);
  EXPECT_EQ(family.end_sweep, expected.end_sweep);
  EXPECT_EQ(family.sweep, expected.sweep);
  EXPECT_EQ(family.set_index_segments, expected.set_index_segments);
  EXPECT_EQ(family.drop_index_segments, expected.drop_index_segments);
  EXPECT_EQ(family.accounts.by_slot(), expected.accounts.by_slot());
  EXPECT_EQ(family.place_runs, expected.place_runs);
  EXPECT_EQ(family.drop_level_runs, expected.drop_level_runs);
}

TEST(EditTest, EmptyEditHasNoBytes) {
  EXPECT_EQ(EncodeEdit(Edit()), "");
  EXPECT_TRUE(DecodeEdit("").ok());
  Edit edit;  // an empty stack of layers is not the same as none
  edit.families.emplace_back().layers.emplace();
  const Result<Edit> back = DecodeEdit(EncodeEdit(edit));
  ASSERT_TRUE(back.ok());
  ASSERT_TRUE(back->families.at(0).layers.has_value());
  EXPECT_TRUE(back->families[0].layers->empty());
}

// Changes of an account that cancel each other are not written: edits with the same meaning have the same bytes.
TEST(EditTest, ChargesThatCancelAreNotWritten) {
  Edit edit;
  FamilyEdit& family = edit.families.emplace_back();
  family.accounts.Add(Slot{1}, {1, 64});
  family.accounts.Add(Slot{1}, {-1, -64});
  Edit without;
  without.families.emplace_back();
  EXPECT_EQ(EncodeEdit(edit), EncodeEdit(without));
}

// Applying decoded edits one by one, and a decoded snapshot at once, give the same state.
TEST(EditTest, RandomEditsAndSnapshotsSurviveEncoding) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x5eed1);
  for (std::uint64_t run = 0; run < 60 * testing::ScaleFromEnvironment(); ++run) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " run " + std::to_string(run));
    EditGenerator generator(seed + run);
    ManifestState state = generator.Start();
    for (int step = 0; step < 60; ++step) {
      const Edit edit = generator.Next(state);
      const std::string bytes = EncodeEdit(edit);
      const Result<Edit> decoded = DecodeEdit(bytes);
      ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
      ASSERT_EQ(EncodeEdit(*decoded), bytes);
      const Status applied = ApplyEdit(*decoded, &state);
      ASSERT_TRUE(applied.ok()) << applied.ToString() << " step " << step;
      ASSERT_TRUE(state.Check().ok()) << state.Check().ToString() << " step " << step;

      const std::string snapshot = EncodeEdit(SnapshotEdit(state));
      const Result<Edit> snapshot_edit = DecodeEdit(snapshot);
      ASSERT_TRUE(snapshot_edit.ok()) << snapshot_edit.status().ToString();
      ManifestState copy;
      const Status copied = ApplyEdit(*snapshot_edit, &copy);
      ASSERT_TRUE(copied.ok()) << copied.ToString() << " step " << step;
      ASSERT_EQ(copy, state);
      ASSERT_EQ(EncodeEdit(SnapshotEdit(copy)), snapshot);
    }
  }
}

TEST(EditTest, TagOfALaterVersionIsNotSupported) {
  const auto with_field = [](std::string message, std::uint64_t tag) {
    FieldWriter(&message).Number(tag, 1);
    return message;
  };
  EXPECT_TRUE(DecodeEdit(with_field(EncodeEdit(FullEdit()), 14)).status().IsNotSupported());
  EXPECT_TRUE(DecodeEdit(with_field("", 1000)).status().IsNotSupported());
  std::string message;
  FieldWriter inner(&message);
  inner.Number(1, 0);
  inner.Number(15, 1);
  std::string edit;
  FieldWriter(&edit).Bytes(8, message);
  EXPECT_TRUE(DecodeEdit(edit).status().IsNotSupported());
}

std::string FamilyWithPlaces(const std::vector<std::uint64_t>& numbers) {
  std::string bytes;
  FieldWriter fields(&bytes);
  fields.Number(1, 0);
  fields.Numbers(12, numbers);
  return bytes;
}

// A family edit whose accounts are these numbers.
std::string FamilyWithAccounts(const std::vector<std::uint64_t>& numbers) {
  std::string bytes;
  FieldWriter fields(&bytes);
  fields.Number(1, 0);
  fields.Numbers(11, numbers);
  return bytes;
}

TEST(EditTest, MalformedEditIsCorruption) {
  const auto encode = [](auto write) {
    std::string bytes;
    FieldWriter fields(&bytes);
    write(fields);
    return bytes;
  };
  const std::string cases[] = {
      encode([](FieldWriter& f) { f.Number(3, 1), f.Number(2, 1); }),             // descending
      encode([](FieldWriter& f) { f.Number(2, 1), f.Number(2, 1); }),             // twice
      encode([](FieldWriter& f) { f.Bytes(0, "x"); }),                            // tag 0
      encode([](FieldWriter& f) { f.Bytes(1, "fifteen bytes.."); }),              // not an id
      encode([](FieldWriter& f) { f.Bytes(2, ""); }),                             // not a number
      encode([](FieldWriter& f) { f.Bytes(2, "\x01\x02"); }),                     // two numbers
      encode([](FieldWriter& f) { f.Numbers(6, {1}); }),                          // half a position
      encode([](FieldWriter& f) { f.Numbers(6, {1, 2, 3, 4}); }),                 // more than a position
      encode([](FieldWriter& f) { f.Numbers(6, {1, 2}); }),                       // less than one
      encode([](FieldWriter& f) { f.Number(11, std::uint64_t{1} << 32); }),       // not a family id
      encode([](FieldWriter& f) { f.Bytes(8, FamilyWithPlaces({1, 1})); }),       // half a place
      encode([](FieldWriter& f) { f.Bytes(8, FamilyWithPlaces({1, 0, 0})); }),    // level 0 is the stack
      encode([](FieldWriter& f) { f.Bytes(8, FamilyWithPlaces({1, kLevelMax + 1, 0})); }),
      encode([](FieldWriter& f) { f.Number(7, 2); }),                             // not a flag
      encode([](FieldWriter& f) { f.Bytes(8, ""); }),                             // family without id
      encode([](FieldWriter& f) { f.Bytes(9, ""); }),                             // empty segment
      encode([](FieldWriter& f) { f.Bytes(10, "\xff"); }),                        // half a number
      encode([](FieldWriter& f) { f.Bytes(8, FamilyWithAccounts({5, 2, 2, 5, 2, 2})); }),  // slot twice
      encode([](FieldWriter& f) { f.Bytes(8, FamilyWithAccounts({kSlotCountMax, 2, 2})); }),
      encode([](FieldWriter& f) { f.Bytes(8, FamilyWithAccounts({5, 2})); }),
      std::string("\x02\x7f", 2),                                                 // longer than the message
      std::string("\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),            // far longer
      std::string("\x80", 1),
  };
  for (const std::string& bytes : cases) {
    EXPECT_TRUE(DecodeEdit(bytes).status().IsCorruption()) << Slice(bytes).ToString(true);
  }
}

// A family of 4 bytes on disk takes hundreds in memory.
TEST(EditTest, TooManyFamiliesAreCorruption) {
  std::string message;
  FieldWriter(&message).Number(1, 0);
  std::string edit;
  for (std::size_t i = 0; i <= kMaxFamilies; ++i) FieldWriter(&edit).Bytes(8, message);
  EXPECT_TRUE(DecodeEdit(edit).status().IsCorruption());
}

TEST(EditTest, TruncatedEditIsAValidEditOrCorruption) {
  const std::string bytes = EncodeEdit(FullEdit());
  int accepted = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<Edit> edit = DecodeEdit(Slice(bytes).substr(0, size));
    if (edit.ok()) {
      ++accepted;
      EXPECT_EQ(EncodeEdit(*edit), bytes.substr(0, size));
    } else {
      EXPECT_TRUE(edit.status().IsCorruption());
    }
  }
  EXPECT_EQ(accepted, 13);  // the empty edit, and one at the end of each field but the last
}

// Decodes damaged, spliced and random bytes. An edit that they give must be the same after another round trip, and
// Check must accept every state to which it applies.
TEST(EditTest, ForgedBytesAreRejectedOrHarmless) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xf22);
  Prng prng(seed);
  EditGenerator generator(seed);
  ManifestState state = generator.Start();
  std::string previous = EncodeEdit(FullEdit());
  std::uint64_t decoded = 0;
  std::uint64_t applied = 0;
  for (std::uint64_t run = 0; run < 4000 * testing::ScaleFromEnvironment(); ++run) {
    const Edit good = generator.Next(state);
    const std::string original = EncodeEdit(good);
    for (int variant = 0; variant < 20; ++variant) {
      std::string bytes = prng.OneIn(10) ? EncodeEdit(SnapshotEdit(state)) : original;
      for (std::uint64_t damage = prng.Between(1, 3); damage > 0 && !bytes.empty(); --damage) {
        const std::size_t at = prng.Uniform(bytes.size());
        switch (prng.Uniform(6)) {
          case 0: bytes[at] = static_cast<char>(prng.Next()); break;
          case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << prng.Uniform(8))); break;
          case 2: bytes.erase(at, prng.Uniform(8)); break;
          case 3: bytes.insert(at, prng.Bytes(prng.Uniform(8))); break;
          case 4: bytes.insert(at, previous.substr(prng.Uniform(previous.size()), prng.Uniform(64))); break;
          default: bytes.resize(at); break;
        }
      }
      const Result<Edit> edit = DecodeEdit(bytes);
      if (!edit.ok()) {
        ASSERT_TRUE(edit.status().IsCorruption() || edit.status().IsNotSupported()) << edit.status().ToString();
        continue;
      }
      ++decoded;
      const std::string again = EncodeEdit(*edit);
      const Result<Edit> twice = DecodeEdit(again);
      ASSERT_TRUE(twice.ok());
      ASSERT_EQ(EncodeEdit(*twice), again);
      ManifestState copy = state;
      if (!ApplyEdit(*edit, &copy).ok()) continue;
      ++applied;
      ASSERT_TRUE(copy.Check().ok()) << copy.Check().ToString() << " " << Slice(bytes).ToString(true);
    }
    ASSERT_TRUE(ApplyEdit(good, &state).ok());
    if (state.segments.size() > 40) state = generator.Start();
    if (!original.empty()) previous = original;
  }
  EXPECT_GT(decoded, 1000u);
  EXPECT_GT(applied, 100u);
}

}  // namespace
}  // namespace cambium
