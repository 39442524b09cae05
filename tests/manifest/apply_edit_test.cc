// Which edits fit a state. Each case applies one edit to the same small state; a rejected edit has one fault.
#include "manifest/apply_edit.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "manifest/edit_generator.h"
#include "testing/mutant_scope.h"
#include "testing/scarce_memory.h"

namespace cambium {
namespace {

using testing::EditGenerator;
using testing::MutantScope;

constexpr std::uint64_t kPageSize = 4096;

RunInfo RunOf(std::uint64_t number) {
  RunInfo run;
  run.number = number;
  run.root = {{MakePageId(number, 1, 1), 7}, 1, 10, 1000};
  run.file_size = 3 * kPageSize;
  return run;
}

SegmentInfo LogOf(std::uint64_t number, std::uint32_t slot) {
  SegmentInfo segment;
  segment.number = number;
  segment.slot = Slot{slot};
  segment.epoch = 1;
  return segment;
}

SegmentInfo SealedLogOf(std::uint64_t number, std::uint32_t slot) {
  SegmentInfo segment = LogOf(number, slot);
  segment.sealed = true;
  segment.sealed_length = 8000;
  segment.file_size = 8000;
  return segment;
}

SegmentInfo RelocationOf(std::uint64_t number, std::uint32_t slot) {
  SegmentInfo segment = SealedLogOf(number, slot);
  segment.kind = SegmentKind::kRelocation;
  segment.generation = 1;
  return segment;
}

// Family 0: layers 32, 31, 30 (31 and 30 being swept, cursor "m"), index segment 40 with the root, references into the
// sealed segment 10. Segments: 10 and 11 sealed, 12 not sealed, 13 a large value. The replay position is in 12.
ManifestState Sample() {
  ManifestState state;
  state.database_id.fill(1);
  state.epoch = 1;
  state.next_file_number = 100;
  state.last_sequence = 500;
  state.durable_sequence = 500;
  state.replay = {12, 1000};
  state.segments = {{10, SealedLogOf(10, 0)}, {11, SealedLogOf(11, 1)}, {12, LogOf(12, 2)}, {13, LogOf(13, 3)}};
  state.segments[13].kind = SegmentKind::kLargeValue;
  FamilyState& family = state.families[0];
  family.name = "default";
  family.comparator = "cambium.BytewiseComparator";
  family.page_size = kPageSize;
  family.flushed_sequence = 400;
  family.runs = {RunOf(32), RunOf(31), RunOf(30)};
  family.sweep = SweepState{{31, 30}, "m"};
  family.index_segments.Set({40, {40, {}, 10 * kPageSize, 5}});
  family.root = {{MakePageId(40, 9, 1), 3}, 2, 1000, 100'000};
  family.accounts.Set({Slot{0}, {4, 400}});
  return state;
}

FamilyEdit& Family(Edit* edit) {
  if (edit->families.empty()) edit->families.emplace_back();
  return edit->families[0];
}

struct Case {
  const char* what;
  std::function<void(Edit*)> change;
};

// Applies each edit to the sample state.
void ExpectLegal(std::span<const Case> cases) {
  for (const Case& c : cases) {
    Edit edit;
    c.change(&edit);
    ManifestState state = Sample();
    const Status status = ApplyEdit(edit, &state);
    EXPECT_TRUE(status.ok()) << c.what << ": " << status.ToString();
    EXPECT_TRUE(state.Check().ok()) << c.what << ": " << state.Check().ToString();
  }
}
void ExpectCorruption(std::span<const Case> cases) {
  for (const Case& c : cases) {
    Edit edit;
    c.change(&edit);
    const ManifestState before = Sample();
    const Result<StagedEdit> staged = StageEdit(edit, before, StateIndex(before));
    EXPECT_FALSE(staged.ok()) << c.what;
    EXPECT_TRUE(staged.ok() || staged.status().IsCorruption()) << c.what << ": " << staged.status().ToString();
    ManifestState state = before;
    EXPECT_TRUE(ApplyEdit(edit, &state).IsCorruption()) << c.what;
  }
}

TEST(ApplyEditTest, SampleStateIsLegal) {
  EXPECT_TRUE(Sample().Check().ok()) << Sample().Check().ToString();
}

TEST(ApplyEditTest, LegalEditsOfFamiliesApply) {
  const Case cases[] = {
      {"nothing", [](Edit*) {}},
      {"unchanged counters", [](Edit* e) { e->next_file_number = 100, e->epoch = 1, e->last_sequence = 500; }},
      {"a flush on top",
       [](Edit* e) {
         Family(e).add_runs = {RunOf(50)};
         Family(e).layers = {50, 32, 31, 30};
         Family(e).flushed_sequence = 450;
         Family(e).accounts.Add(Slot{1}, {2, 128});
         e->replay = LogPosition{12, 2000};
       }},
      {"a compaction above the sweep",
       [](Edit* e) { Family(e).add_runs = {RunOf(50)}, Family(e).layers = {50, 31, 30}; }},
      {"an unchanged cursor", [](Edit* e) { Family(e).sweep = SweepState{{31, 30}, "m"}; }},
      {"a cursor that advances", [](Edit* e) { Family(e).sweep = SweepState{{31, 30}, "ma"}; }},
      {"the end of a sweep", [](Edit* e) { Family(e).end_sweep = true, Family(e).layers = {32}; }},
      {"one sweep after the other",
       [](Edit* e) { Family(e).end_sweep = true, Family(e).layers = {32}, Family(e).sweep = SweepState{{32}, ""}; }},
      {"all layers dropped with their sweep", [](Edit* e) { Family(e).end_sweep = true, Family(e).layers.emplace(); }},
      {"a root in a new index segment",
       [](Edit* e) {
         Family(e).set_index_segments = {{41, {}, 3 * kPageSize, 1}};
         Family(e).root = TreeRoot{{MakePageId(41, 1, 2), 1}, 1, 1, 1};
         Family(e).drop_index_segments = {40};
       }},
      {"an empty tree", [](Edit* e) { Family(e).root = TreeRoot{}, Family(e).drop_index_segments = {40}; }},
      {"a new family",
       [](Edit* e) {
         e->next_family_id = 2;
         Family(e).id = 1, Family(e).create = {"two", IndexType::kLsm, "mine", 512};
       }},
      {"versions since the last flush", [](Edit* e) { Family(e).versions_since = 400; }},
      {"versions since this flush",
       [](Edit* e) { Family(e).flushed_sequence = 450, Family(e).versions_since = 450; }},
  };
  ExpectLegal(cases);
}

TEST(ApplyEditTest, AFamilyBeginsToKeepVersionsOnce) {
  ManifestState state = Sample();
  Edit edit;
  Family(&edit).versions_since = 400;
  ASSERT_TRUE(ApplyEdit(edit, &state).ok());
  EXPECT_EQ(state.families.at(0).versions_since, 400u);
  EXPECT_TRUE(ApplyEdit(edit, &state).IsCorruption());
  Edit flush;
  Family(&flush).flushed_sequence = 500;
  state = Sample();
  ASSERT_TRUE(ApplyEdit(edit, &state).ok());
  ASSERT_TRUE(ApplyEdit(flush, &state).ok());
  EXPECT_EQ(state.families.at(0).versions_since, 400u);  // it stays
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(SnapshotEdit(state), &again).ok());
  EXPECT_EQ(again, state);
}

TEST(ApplyEditTest, LegalEditsOfSegmentsApply) {
  const Case cases[] = {
      {"a drop of a segment without references", [](Edit* e) { e->drop_segments = {11}; }},
      {"a drop together with its last reference",
       [](Edit* e) { Family(e).accounts.Add(Slot{0}, {-4, -400}), e->drop_segments = {10}; }},
      {"a drop of a large value", [](Edit* e) { e->drop_segments = {13}; }},
      {"a slot reused in the edit that frees it",
       [](Edit* e) { e->drop_segments = {11}, e->set_segments = {LogOf(60, 1)}; }},
      {"a segment with references dropped and its slot shadowed",
       [](Edit* e) { e->drop_segments = {10}, e->shadow_slots = {Slot{0}}; }},
      {"the same, and some of its references removed",
       [](Edit* e) {
         Family(e).accounts.Add(Slot{0}, {-3, -300});
         e->drop_segments = {10}, e->shadow_slots = {Slot{0}};
       }},
      {"log GC",
       [](Edit* e) {
         Family(e).add_runs = {RunOf(50)};
         Family(e).add_runs[0].kind = RunKind::kRelocation;
         Family(e).layers = {50, 32, 31, 30};
         Family(e).accounts.Add(Slot{5}, {2, 200});
         e->set_segments = {RelocationOf(60, 5)};
         e->drop_segments = {10}, e->shadow_slots = {Slot{0}};
       }},
      {"a seal", [](Edit* e) { e->set_segments = {SealedLogOf(12, 2)}; }},
      {"a footer after a seal",
       [](Edit* e) {
         e->set_segments = {SealedLogOf(11, 1)};
         e->set_segments[0].has_footer = true;
         e->set_segments[0].file_size = 9000;
       }},
      {"a replay position at the end of a dropped segment",
       [](Edit* e) {
         e->set_segments = {SealedLogOf(12, 2)};
         e->replay = LogPosition{12, 8000};
         e->drop_segments = {12};
       }},
  };
  ExpectLegal(cases);
}

// ---- Edits that the sample state does not allow, each with one fault ----

TEST(ApplyEditTest, IllegalCountersAndReplayPositionsAreCorruption) {
  const Case cases[] = {
      {"another database", [](Edit* e) { e->database_id = Id128{}; }},
      {"the epoch decreases", [](Edit* e) { e->epoch = 0; }},
      {"the counter decreases", [](Edit* e) { e->next_file_number = 99; }},
      {"the counter is out of range", [](Edit* e) { e->next_file_number = std::uint64_t{1} << 60; }},
      {"the last sequence decreases", [](Edit* e) { e->last_sequence = 499; }},
      {"the last sequence is out of range", [](Edit* e) { e->last_sequence = kMaxSequenceNumber + 1; }},
      {"the durable sequence decreases", [](Edit* e) { e->durable_sequence = 499; }},
      {"the replay position moves back in its segment", [](Edit* e) { e->replay = LogPosition{12, 999}; }},
      {"the replay position moves back to another segment", [](Edit* e) { e->replay = LogPosition{11, 9999}; }},
      {"the replay position is in a segment that was never made", [](Edit* e) { e->replay = LogPosition{100, 0}; }},
      {"the replay position is in a large value", [](Edit* e) { e->replay = LogPosition{13, 0}; }},
      {"the replay position is beyond the end",
       [](Edit* e) { e->set_segments = {SealedLogOf(12, 2)}, e->replay = LogPosition{12, 8001}; }},
      {"a seal before the replay position",
       [](Edit* e) {
         e->set_segments = {SealedLogOf(12, 2)};
         e->set_segments[0].sealed_length = 999;
       }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalFieldsOfFamiliesAreCorruption) {
  const Case cases[] = {
      {"an unknown family", [](Edit* e) { Family(e).id = 9; }},
      {"a family twice", [](Edit* e) { e->families.resize(2); }},
      {"a family created again",
       [](Edit* e) { Family(e).create = {"again", IndexType::kBTree, "mine", kPageSize}; }},
      {"the name of another family",
       [](Edit* e) { Family(e).id = 1, Family(e).create = {"default", IndexType::kBTree, "mine", kPageSize}; }},
      {"an illegal page size",
       [](Edit* e) { Family(e).id = 1, Family(e).create = {"two", IndexType::kBTree, "mine", 5000}; }},
      {"no comparator",
       [](Edit* e) { Family(e).id = 1, Family(e).create = {"two", IndexType::kBTree, "", kPageSize}; }},
      {"an index of an unknown type",
       [](Edit* e) { Family(e).id = 1, Family(e).create = {"two", static_cast<IndexType>(9), "mine", kPageSize}; }},
      {"the flushed sequence decreases", [](Edit* e) { Family(e).flushed_sequence = 399; }},
      {"versions since an operation that is not flushed", [](Edit* e) { Family(e).versions_since = 401; }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalEditsOfRunsAreCorruption) {
  const Case cases[] = {
      {"a run without a place", [](Edit* e) { Family(e).add_runs = {RunOf(50)}; }},
      {"a run that is not a layer",
       [](Edit* e) { Family(e).add_runs = {RunOf(50)}, Family(e).layers = {32, 31, 30}; }},
      {"a layer that is not a run", [](Edit* e) { Family(e).layers = {50, 32, 31, 30}; }},
      {"a layer twice", [](Edit* e) { Family(e).layers = {32, 32, 31, 30}; }},
      {"a run with the number of a run",
       [](Edit* e) { Family(e).add_runs = {RunOf(32)}, Family(e).layers = {32, 31, 30}; }},
      {"a run with the number of a segment",
       [](Edit* e) { Family(e).add_runs = {RunOf(12)}, Family(e).layers = {12, 32, 31, 30}; }},
      {"a run with the number of an index segment",
       [](Edit* e) { Family(e).add_runs = {RunOf(40)}, Family(e).layers = {40, 32, 31, 30}; }},
      {"a run with a number not drawn yet",
       [](Edit* e) { Family(e).add_runs = {RunOf(100)}, Family(e).layers = {100, 32, 31, 30}; }},
      {"a run of an unknown kind",
       [](Edit* e) {
         Family(e).add_runs = {RunOf(50)};
         Family(e).add_runs[0].kind = static_cast<RunKind>(7);
         Family(e).layers = {50, 32, 31, 30};
       }},
      {"a run whose root is in another file",
       [](Edit* e) {
         Family(e).add_runs = {RunOf(50)};
         Family(e).add_runs[0].root.page.id = MakePageId(51, 1, 1);
         Family(e).layers = {50, 32, 31, 30};
       }},
      {"a run whose root is beyond its end",
       [](Edit* e) {
         Family(e).add_runs = {RunOf(50)};
         Family(e).add_runs[0].file_size = 2 * kPageSize - 1;
         Family(e).layers = {50, 32, 31, 30};
       }},
      {"a run under the sweep",
       [](Edit* e) { Family(e).add_runs = {RunOf(50)}, Family(e).layers = {32, 31, 30, 50}; }},
      {"a run between the swept runs",
       [](Edit* e) { Family(e).add_runs = {RunOf(50)}, Family(e).layers = {32, 31, 50, 30}; }},
      {"swept runs dropped without their sweep", [](Edit* e) { Family(e).layers = {32, 31}; }},
      {"swept runs compacted",
       [](Edit* e) { Family(e).add_runs = {RunOf(50)}, Family(e).layers = {32, 50}; }},
      {"runs change their order", [](Edit* e) { Family(e).layers = {31, 32, 30}; }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalEditsOfSweepsAreCorruption) {
  const Case cases[] = {
      {"a sweep resumed over other runs", [](Edit* e) { Family(e).sweep = SweepState{{32, 31, 30}, "n"}; }},
      {"a sweep resumed over fewer runs", [](Edit* e) { Family(e).sweep = SweepState{{30}, "n"}; }},
      {"the cursor moves back", [](Edit* e) { Family(e).sweep = SweepState{{31, 30}, "l"}; }},
      {"the cursor becomes empty", [](Edit* e) { Family(e).sweep = SweepState{{31, 30}, ""}; }},
      {"a sweep ends and its runs remain", [](Edit* e) { Family(e).end_sweep = true; }},
      {"a sweep ends and one of its runs remains",
       [](Edit* e) { Family(e).end_sweep = true, Family(e).layers = {32, 30}; }},
      {"a sweep of newer runs",
       [](Edit* e) {
         Family(e).add_runs = {RunOf(50)};
         Family(e).layers = {50, 32};
         Family(e).end_sweep = true;
         Family(e).sweep = SweepState{{50}, ""};
       }},
      {"a sweep of no runs",
       [](Edit* e) { Family(e).end_sweep = true, Family(e).layers = {32}, Family(e).sweep = SweepState{}; }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalEditsOfTreesAreCorruption) {
  const Case cases[] = {
      {"a root in no index segment", [](Edit* e) { Family(e).root = TreeRoot{{MakePageId(41, 1, 1), 1}, 1, 1, 1}; }},
      {"a root beyond the committed length",
       [](Edit* e) { Family(e).root = TreeRoot{{MakePageId(40, 9, 2), 1}, 1, 1, 1}; }},
      {"a root without height", [](Edit* e) { Family(e).root = TreeRoot{{MakePageId(40, 1, 1), 1}, 0, 1, 1}; }},
      {"an empty tree with entries", [](Edit* e) { Family(e).root = TreeRoot{{PageId::kNone, 0}, 0, 1, 0}; }},
      {"the index segment of the root dropped", [](Edit* e) { Family(e).drop_index_segments = {40}; }},
      {"an unknown index segment dropped", [](Edit* e) { Family(e).drop_index_segments = {41}; }},
      {"an index segment shrinks", [](Edit* e) { Family(e).set_index_segments = {{40, {}, 9 * kPageSize, 1}}; }},
      {"an index segment changes its identity",
       [](Edit* e) { Family(e).set_index_segments = {{40, Id128{1}, 10 * kPageSize, 5}}; }},
      {"more live pages than pages", [](Edit* e) { Family(e).set_index_segments = {{40, {}, 10 * kPageSize, 11}}; }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalEditsOfAccountsAreCorruption) {
  const Case cases[] = {
      {"references below zero", [](Edit* e) { Family(e).accounts.Add(Slot{0}, {-5, -300}); }},
      {"bytes below zero", [](Edit* e) { Family(e).accounts.Add(Slot{0}, {-3, -401}); }},
      {"references without bytes", [](Edit* e) { Family(e).accounts.Add(Slot{0}, {-3, -400}); }},
      {"bytes without references", [](Edit* e) { Family(e).accounts.Add(Slot{0}, {-4, -399}); }},
      {"an account that overflows",
       [](Edit* e) {
         constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
         Family(e).accounts.Add(Slot{0}, {kMost, kMost});
       }},
      {"an account larger than any file", [](Edit* e) { Family(e).accounts.Add(Slot{0}, {1, std::int64_t{1} << 50}); }},
      {"an account of no segment", [](Edit* e) { Family(e).accounts.Add(Slot{9}, {1, 64}); }},
      {"a new account of a dropped segment",
       [](Edit* e) { Family(e).accounts.Add(Slot{1}, {1, 64}), e->drop_segments = {11}; }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalDropsOfSegmentsAreCorruption) {
  const Case cases[] = {
      {"a segment with references dropped", [](Edit* e) { e->drop_segments = {10}; }},
      {"a segment with one reference left dropped",
       [](Edit* e) { Family(e).accounts.Add(Slot{0}, {-3, -399}), e->drop_segments = {10}; }},
      {"a slot is shadowed and its segment remains", [](Edit* e) { e->shadow_slots = {Slot{0}}; }},
      {"a slot without references is shadowed",
       [](Edit* e) { e->drop_segments = {11}, e->shadow_slots = {Slot{1}}; }},
      {"a slot is shadowed and its last reference removed",
       [](Edit* e) {
         Family(e).accounts.Add(Slot{0}, {-4, -400});
         e->drop_segments = {10}, e->shadow_slots = {Slot{0}};
       }},
      {"a slot is shadowed twice",
       [](Edit* e) { e->drop_segments = {10}, e->shadow_slots = {Slot{0}, Slot{0}}; }},
      {"a slot that never had a segment is shadowed", [](Edit* e) { e->shadow_slots = {Slot{9}}; }},
      {"a shadowed slot gets a new segment",
       [](Edit* e) { e->drop_segments = {10}, e->shadow_slots = {Slot{0}}, e->set_segments = {LogOf(60, 0)}; }},
      {"a segment dropped before it is sealed", [](Edit* e) { e->drop_segments = {12}; }},
      {"a segment dropped while its log is needed",
       [](Edit* e) { e->set_segments = {SealedLogOf(12, 2)}, e->drop_segments = {12}; }},
      {"a segment dropped twice", [](Edit* e) { e->drop_segments = {11, 11}; }},
      {"an unknown segment dropped", [](Edit* e) { e->drop_segments = {30}; }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalHolesAndCutsAreCorruption) {
  const Case cases[] = {
      {"holes in a segment that is not sealed",
       [](Edit* e) { e->set_segments = {LogOf(60, 8)}, e->set_segments[0].punched = {128}; }},
      {"holes beyond the end",
       [](Edit* e) { e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].punched = {128, 8000}; }},
      {"holes out of order",
       [](Edit* e) { e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].punched = {300, 128}; }},
      {"a hole twice",
       [](Edit* e) { e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].punched = {128, 128}; }},
      {"a cut in a segment that is not sealed",
       [](Edit* e) { e->set_segments = {LogOf(60, 8)}, e->set_segments[0].cut = 160; }},
      {"a cut in a segment without a footer",
       [](Edit* e) {
         e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].has_footer = false;
         e->set_segments[0].cut = 160;
       }},
      {"a cut in the file header",
       [](Edit* e) {
         e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].has_footer = true;
         e->set_segments[0].cut = kFileHeaderSize;
       }},
      {"a cut between record offsets",
       [](Edit* e) {
         e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].has_footer = true;
         e->set_segments[0].cut = 164;
       }},
      {"a cut at the end",
       [](Edit* e) {
         e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].has_footer = true;
         e->set_segments[0].cut = e->set_segments[0].sealed_length;
       }},
      {"a hole before the cut",
       [](Edit* e) {
         e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].has_footer = true;
         e->set_segments[0].punched = {128}, e->set_segments[0].cut = 160;
       }},
  };
  ExpectCorruption(cases);
}

TEST(ApplyEditTest, IllegalFieldsOfSegmentsAreCorruption) {
  const Case cases[] = {
      {"a log segment with a generation",
       [](Edit* e) { e->set_segments = {LogOf(60, 8)}, e->set_segments[0].generation = 1; }},
      {"a relocation segment without a generation",
       [](Edit* e) { e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].generation = 0; }},
      {"a generation out of range",
       [](Edit* e) { e->set_segments = {RelocationOf(60, 8)}, e->set_segments[0].generation = kGenerationMax + 1; }},
      {"a slot twice", [](Edit* e) { e->set_segments = {LogOf(60, 1)}; }},
      {"a new slot twice", [](Edit* e) { e->set_segments = {LogOf(60, 8), LogOf(61, 8)}; }},
      {"a slot out of range", [](Edit* e) { e->set_segments = {LogOf(60, kSlotCountMax)}; }},
      {"a segment set twice", [](Edit* e) { e->set_segments = {LogOf(60, 8), LogOf(60, 8)}; }},
      {"a segment with the number of a run", [](Edit* e) { e->set_segments = {LogOf(30, 8)}; }},
      {"a segment without a number", [](Edit* e) { e->set_segments = {LogOf(0, 8)}; }},
      {"a segment of a later epoch", [](Edit* e) { e->set_segments = {LogOf(60, 8)}, e->set_segments[0].epoch = 2; }},
      {"a segment of an unknown kind",
       [](Edit* e) { e->set_segments = {LogOf(60, 8)}, e->set_segments[0].kind = static_cast<SegmentKind>(4); }},
      {"a segment moves to another slot", [](Edit* e) { e->set_segments = {LogOf(12, 8)}; }},
      {"a sealed segment is unsealed", [](Edit* e) { e->set_segments = {LogOf(11, 1)}; }},
      {"a sealed segment grows",
       [](Edit* e) {
         e->set_segments = {SealedLogOf(11, 1)};
         e->set_segments[0].sealed_length = e->set_segments[0].file_size = 9000;
       }},
      {"a footer without a seal",
       [](Edit* e) { e->set_segments = {LogOf(12, 2)}, e->set_segments[0].has_footer = true; }},
      {"a seal beyond the end of the file",
       [](Edit* e) { e->set_segments = {SealedLogOf(12, 2)}, e->set_segments[0].file_size = 7999; }},
      {"one number for two new files",
       [](Edit* e) {
         e->set_segments = {LogOf(60, 8)};
         Family(e).add_runs = {RunOf(60)};
         Family(e).layers = {60, 32, 31, 30};
       }},
  };
  ExpectCorruption(cases);
}

// ---- Edits of other states ----

// The cut only grows, and covers the punched records before it; those after it stay listed.
TEST(ApplyEditTest, CutOnlyGrows) {
  ManifestState state = Sample();
  const auto set = [&state](std::uint64_t cut, std::vector<std::uint64_t> punched) {
    Edit edit;
    edit.set_segments = {state.segments.at(10)};
    edit.set_segments[0].has_footer = true;
    edit.set_segments[0].cut = cut;
    edit.set_segments[0].punched = std::move(punched);
    return ApplyEdit(edit, &state);
  };
  ASSERT_TRUE(set(0, {128, 1000, 3000}).ok());
  ASSERT_TRUE(set(1000, {1000, 3000}).ok());
  EXPECT_EQ(state.segments.at(10).cut, 1000u);
  EXPECT_TRUE(set(992, {1000, 3000}).IsCorruption());
  EXPECT_TRUE(set(0, {128, 1000, 3000}).IsCorruption());
  EXPECT_TRUE(set(2000, {}).IsCorruption()) << "3000 is lost";
  ASSERT_TRUE(set(2000, {2000, 3000}).ok());
  ASSERT_TRUE(set(4000, {}).ok());
}

// The order of a user's comparator is not known here. So only an empty cursor, which is before all keys, is known to be
// a step back.
TEST(ApplyEditTest, UnderAUsersComparatorOnlyAnEmptyCursorIsRejected) {
  ManifestState state = Sample();
  state.families[0].comparator = "mine";
  Edit edit;
  Family(&edit).sweep = SweepState{{31, 30}, "a"};
  EXPECT_TRUE(ApplyEdit(edit, &state).ok());
  Family(&edit).sweep->cursor = "";
  EXPECT_TRUE(ApplyEdit(edit, &state).IsCorruption());
}

TEST(ApplyEditTest, InReverseOrderTheCursorDecreases) {
  for (const auto& [cursor, fits] : {std::pair("l", true), std::pair("n", false)}) {
    ManifestState state = Sample();
    state.families[0].comparator = "cambium.ReverseBytewiseComparator";
    Edit edit;
    Family(&edit).sweep = SweepState{{31, 30}, cursor};
    EXPECT_EQ(ApplyEdit(edit, &state).ok(), fits) << cursor;
  }
}

// A family of runs 32, 31, 30 in the stack, 33 and 34 side by side in level 1, 35 in level 2.
ManifestState LsmSample() {
  ManifestState state = Sample();
  FamilyState& family = state.families[0];
  family.index_type = IndexType::kLsm;
  family.sweep.reset();
  family.root = {};
  family.index_segments = {};
  const auto place = [&](std::uint64_t number, std::uint32_t level, const char* smallest, const char* largest) {
    LevelRun run{RunOf(number), level, 0};
    run.info.smallest_key = smallest;
    run.info.largest_key = largest;
    family.level_runs.Set({number, run});
  };
  place(33, 1, "a", "f");
  place(34, 1, "g", "m");
  place(35, 2, "b", "z");
  return state;
}

TEST(ApplyEditTest, RunsMoveDownTheLevelsOfAnLsm) {
  ManifestState state = LsmSample();
  ASSERT_TRUE(state.Check().ok()) << state.Check().ToString();
  Edit edit;
  Family(&edit).layers = {32};
  Family(&edit).add_runs = {RunOf(50)};
  Family(&edit).place_runs = {{50, 1, 7}, {31, 3, 0}, {34, 2, 1}};  // 30 and 33 are compacted into 50
  Family(&edit).drop_level_runs = {33};
  const Status s = ApplyEdit(edit, &state);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> places;
  for (const auto& [number, run] : state.families[0].level_runs) places[number] = {run.level, run.tier};
  EXPECT_EQ(places, (decltype(places){{31, {3, 0}}, {34, {2, 1}}, {35, {2, 0}}, {50, {1, 7}}}));
  ASSERT_EQ(state.families[0].runs.size(), 1u);
  // The snapshot in the first record of the next MANIFEST gives the same state.
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(SnapshotEdit(state), &again).ok());
  EXPECT_EQ(again, state);
}

TEST(ApplyEditTest, IllegalEditsOfLevelsAreCorruption) {
  const Case cases[] = {
      {"a run moves up", [](Edit* e) { Family(e).place_runs = {{35, 1, 0}}; }},
      {"an unknown run", [](Edit* e) { Family(e).place_runs = {{36, 1, 0}}; }},
      {"a run of the stack that remains in it", [](Edit* e) { Family(e).place_runs = {{30, 1, 3}}; }},
      {"level 0", [](Edit* e) { Family(e).place_runs = {{35, 0, 0}}; }},
      {"a level too deep", [](Edit* e) { Family(e).place_runs = {{35, kLevelMax + 1, 0}}; }},
      {"a drop of a run in no level", [](Edit* e) { Family(e).drop_level_runs = {32}; }},
      {"a drop twice", [](Edit* e) { Family(e).drop_level_runs = {33, 33}; }},
      {"a new run without a place",
       [](Edit* e) { Family(e).add_runs = {RunOf(50)}, Family(e).drop_level_runs = {33}; }},
      {"a run of a level back in the stack", [](Edit* e) { Family(e).layers = {33, 32, 31, 30}; }},
      {"runs of the stack that change their order", [](Edit* e) { Family(e).layers = {30, 32, 31}; }},
      {"a tree in an LSM", [](Edit* e) { Family(e).set_index_segments = {{41, {}, 3 * kPageSize, 1}}; }},
  };
  for (const Case& c : cases) {
    ManifestState state = LsmSample();
    Edit edit;
    c.change(&edit);
    EXPECT_TRUE(ApplyEdit(edit, &state).IsCorruption()) << c.what;
  }
  ManifestState tree = Sample();
  Edit edit;
  Family(&edit).layers = {32, 31, 30};
  Family(&edit).add_runs = {RunOf(50)};
  Family(&edit).place_runs = {{50, 1, 0}};
  EXPECT_TRUE(ApplyEdit(edit, &tree).IsCorruption());
}

TEST(ApplyEditTest, OverlappingRunsOfOneTierAreCorruption) {
  ManifestState state = LsmSample();
  state.families[0].level_runs.Mutable(34)->second.info.smallest_key = "f";
  EXPECT_TRUE(state.Check().IsCorruption());
  // 33 ends in a range delete up to "f", so it does not include "f".
  state.families[0].level_runs.Mutable(33)->second.info.range_delete_count = 1;
  state.families[0].level_runs.Mutable(33)->second.info.largest_is_open = true;
  EXPECT_TRUE(state.Check().ok()) << state.Check().ToString();
  state.families[0].level_runs.Mutable(34)->second.info.smallest_key = "e";
  EXPECT_TRUE(state.Check().IsCorruption());
  state.families[0].level_runs.Mutable(34)->second.tier = 1;
  EXPECT_TRUE(state.Check().ok()) << state.Check().ToString();
}

TEST(ApplyEditTest, DroppedFamilyReleasesItsReferencesButNotItsId) {
  ManifestState state = Sample();
  Edit edit;
  edit.next_family_id = 2;
  Family(&edit).id = 1;
  Family(&edit).create = {"two", IndexType::kBTree, "mine", 512};
  Family(&edit).accounts.Add(Slot{1}, {1, 64});
  ASSERT_TRUE(ApplyEdit(edit, &state).ok());
  Edit drop;
  drop.drop_segments = {11};
  EXPECT_TRUE(StageEdit(drop, state, StateIndex(state)).status().IsCorruption()) << "family 1 refers to it";
  drop.drop_families = {1};
  ASSERT_TRUE(ApplyEdit(drop, &state).ok());
  EXPECT_FALSE(state.families.contains(1));
  EXPECT_TRUE(state.Check().ok()) << state.Check().ToString();
  EXPECT_TRUE(StageEdit(edit, state, StateIndex(state)).status().IsCorruption()) << "the id is used again";
  edit.next_family_id = 3;
  edit.families[0].id = 2;
  edit.families[0].accounts = {};
  EXPECT_TRUE(ApplyEdit(edit, &state).ok());
}

// Layers still refer to values that log GC has relocated. Compactions remove these references.
TEST(ApplyEditTest, ShadowedSlotIsFreedWithItsLastReference) {
  ManifestState state = Sample();
  state.next_family_id = 2;
  state.families[1] = state.families[0];
  FamilyState& other = state.families[1];
  other.id = 1, other.name = "two", other.runs = {}, other.sweep.reset(), other.root = {}, other.index_segments = {};
  Edit gone;
  gone.drop_segments = {10};
  gone.shadow_slots = {Slot{0}};
  ASSERT_TRUE(ApplyEdit(gone, &state).ok());
  EXPECT_EQ(state.shadowed_slots, std::set<Slot>{Slot{0}});
  ASSERT_TRUE(state.Check().ok()) << state.Check().ToString();
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(SnapshotEdit(state), &again).ok());
  EXPECT_EQ(again, state);

  Edit reuse;
  reuse.set_segments = {LogOf(60, 0)};
  EXPECT_TRUE(StageEdit(reuse, state, StateIndex(state)).status().IsCorruption());
  Edit grow;
  Family(&grow).accounts.Add(Slot{0}, {1, 100});
  EXPECT_TRUE(StageEdit(grow, state, StateIndex(state)).status().IsCorruption());
  Edit shadow_again;
  shadow_again.shadow_slots = {Slot{0}};
  EXPECT_TRUE(StageEdit(shadow_again, state, StateIndex(state)).status().IsCorruption());

  Edit compacted;
  Family(&compacted).accounts.Add(Slot{0}, {-4, -400});
  ASSERT_TRUE(ApplyEdit(compacted, &state).ok());
  EXPECT_EQ(state.shadowed_slots, std::set<Slot>{Slot{0}}) << "the other family refers to it";
  EXPECT_TRUE(StageEdit(reuse, state, StateIndex(state)).status().IsCorruption());
  Edit dropped;
  dropped.drop_families = {1};
  ASSERT_TRUE(ApplyEdit(dropped, &state).ok());
  EXPECT_TRUE(state.shadowed_slots.empty());
  EXPECT_TRUE(state.Check().ok()) << state.Check().ToString();
  EXPECT_TRUE(ApplyEdit(reuse, &state).ok());
}

TEST(ApplyEditTest, IllegalEditsOfFamiliesAreCorruption) {
  const Case cases[] = {
      {"the default family dropped", [](Edit* e) { e->drop_families = {0}; }},
      {"an unknown family dropped", [](Edit* e) { e->drop_families = {1}; }},
      {"an id out of range dropped", [](Edit* e) { e->drop_families = {std::uint64_t{1} << 32}; }},
      {"an id not drawn yet",
       [](Edit* e) { Family(e).id = 1, Family(e).create = {"two", IndexType::kLsm, "mine", 512}; }},
      {"the counter decreases", [](Edit* e) { e->next_family_id = 0; }},
  };
  for (const Case& c : cases) {
    ManifestState state = Sample();
    Edit edit;
    c.change(&edit);
    EXPECT_TRUE(ApplyEdit(edit, &state).IsCorruption()) << c.what;
  }
}

TEST(ApplyEditTest, RunPageSizeMustBeBelowFamilyPageSize) {
  const auto add = [](std::uint64_t page_size, std::uint64_t unit, std::uint64_t file_size) {
    ManifestState state = Sample();
    Edit edit;
    RunInfo run = RunOf(50);
    run.page_size = page_size;
    run.root.page.id = MakePageId(50, unit, 1);
    run.file_size = file_size;
    Family(&edit).add_runs = {run};
    Family(&edit).layers = {50, 32, 31, 30};
    return ApplyEdit(edit, &state);
  };
  EXPECT_TRUE(add(0, 1, 3 * kPageSize).ok());
  EXPECT_TRUE(add(512, 1, 1100).ok());
  EXPECT_TRUE(add(2048, 2, 3 * 2048).ok());
  EXPECT_TRUE(add(0, 1, 1100).IsCorruption()) << "the root lies outside";
  EXPECT_TRUE(add(512, 2, 1100).IsCorruption()) << "the root lies outside";
  for (const std::uint64_t wrong : {std::uint64_t{256}, std::uint64_t{600}, kPageSize, 2 * kPageSize}) {
    EXPECT_TRUE(add(wrong, 1, 3 * kPageSize).IsCorruption()) << wrong;
  }
}

// The run that a compaction makes has a higher number than the runs above it, and must still be below them.
TEST(ApplyEditTest, LayersHaveTheOrderOfTheEditNotOfTheirNumbers) {
  const auto layers_after_compaction = [] {
    ManifestState state = Sample();
    state.families[0].sweep.reset();
    Edit edit;
    Family(&edit).add_runs = {RunOf(50)};
    Family(&edit).layers = {32, 50};
    EXPECT_TRUE(ApplyEdit(edit, &state).ok());
    std::vector<std::uint64_t> numbers;
    for (const RunInfo& run : state.families[0].runs) numbers.push_back(run.number);
    return numbers;
  };
  EXPECT_EQ(layers_after_compaction(), (std::vector<std::uint64_t>{32, 50}));
#ifdef CAMBIUM_TEST_HOOKS
  const MutantScope mutant(Mutant::kLayersByNumber);
  EXPECT_NE(layers_after_compaction(), (std::vector<std::uint64_t>{32, 50}));
#endif
}

// StageEdit and Install together do the same as ApplyEdit, and StageEdit does not change the state.
TEST(ApplyEditTest, StagingChangesNothing) {
  EditGenerator generator(11);
  ManifestState state = generator.Start();
  for (int step = 0; step < 300; ++step) {
    const Edit edit = generator.Next(state);
    const ManifestState before = state;
    Result<StagedEdit> staged = StageEdit(edit, state, StateIndex(state));
    ASSERT_TRUE(staged.ok()) << staged.status().ToString();
    ASSERT_EQ(state, before);
    ASSERT_TRUE(ApplyEdit(edit, &state).ok());
    ManifestState installed = before;
    StateIndex index(before);
    Install(std::move(staged).value(), &installed, &index);
    ASSERT_EQ(installed, state);
  }
  EXPECT_GT(state.next_file_number, 100u);
}

// A forged snapshot may have faults that no legal edit can cause.
TEST(ApplyEditTest, CheckRejectsStatesThatNoEditCouldMake) {
  const std::pair<const char*, std::function<void(ManifestState*)>> cases[] = {
      {"no file number left", [](ManifestState* s) { s->next_file_number = 0; }},
      {"a file number not drawn yet", [](ManifestState* s) { s->next_file_number = 40; }},
      {"sequence out of range", [](ManifestState* s) { s->last_sequence = ~SequenceNumber{0}; }},
      {"a segment under another number", [](ManifestState* s) { s->segments[10].number = 11; }},
      {"a family under another id", [](ManifestState* s) { s->families[0].id = 1; }},
      {"an index segment under another number",
       [](ManifestState* s) { s->families[0].index_segments.Mutable(40)->second.number = 41; }},
      {"a slot twice", [](ManifestState* s) { s->segments[10].slot = Slot{1}; }},
      {"a file twice", [](ManifestState* s) { s->families[0].runs = {RunOf(40), RunOf(31), RunOf(30)}; }},
      {"a name twice",
       [](ManifestState* s) {
         s->next_family_id = 2;
         s->families[1] = s->families[0];
         s->families[1].id = 1;
         s->families[1].runs = {};
         s->families[1].sweep.reset();
         s->families[1].index_segments = {};
         s->families[1].root = {};
       }},
      {"an account without a segment", [](ManifestState* s) { s->families[0].accounts.Set({Slot{9}, {1, 8}}); }},
      {"an empty account", [](ManifestState* s) { s->families[0].accounts.Set({Slot{1}, {0, 0}}); }},
      {"a shadowed slot with a segment", [](ManifestState* s) { s->shadowed_slots = {Slot{0}}; }},
      {"a shadowed slot without references", [](ManifestState* s) { s->shadowed_slots = {Slot{9}}; }},
      {"a segment of a later epoch", [](ManifestState* s) { s->epoch = 0; }},
      {"a replay position beyond the end", [](ManifestState* s) { s->replay = {11, 8001}; }},
      {"a sweep of runs that are not the oldest", [](ManifestState* s) { s->families[0].sweep->runs = {32, 31}; }},
  };
  for (const auto& [what, change] : cases) {
    ManifestState state = Sample();
    change(&state);
    EXPECT_TRUE(state.Check().IsCorruption()) << what;
  }
}

// A family with `files` runs in level 1.
ManifestState LsmWithRuns(int files) {
  ManifestState state = LsmSample();
  state.next_file_number = 1'000'000;
  for (int i = 0; i < files; ++i) {
    LevelRun run{RunOf(1000 + static_cast<std::uint64_t>(i)), 1, 1};
    run.info.smallest_key = "a key that takes memory of its own " + std::to_string(1'000'000 + i);
    run.info.largest_key = run.info.smallest_key + "z";
    state.families[0].level_runs.Set({run.info.number, run});
  }
  return state;
}

// A family with `files` index segments.
ManifestState TreeWithSegments(int files) {
  ManifestState state = Sample();
  state.next_file_number = 1'000'000;
  for (std::uint64_t number = 1000; number < 1000 + static_cast<std::uint64_t>(files); ++number) {
    state.families[0].index_segments.Set({number, {number, {}, 10 * kPageSize, 5}});
  }
  return state;
}

std::uint64_t BytesToStage(const ManifestState& state, const Edit& edit) {
  const StateIndex index(state);
  const testing::AllocatedBytes allocated;
  EXPECT_TRUE(StageEdit(edit, state, index).ok());
  return allocated.get();
}

TEST(ApplyEditTest, EditOfFamilyWithManyFilesAllocatesLittle) {
  constexpr std::uint64_t kMore = 32'768;  // one or two nodes of a table
  Edit compacts;
  Family(&compacts).add_runs = {RunOf(900'000)};
  Family(&compacts).place_runs = {{900'000, 2, 0}};
  Family(&compacts).drop_level_runs = {1000, 1001};
  const std::uint64_t few_runs = BytesToStage(LsmWithRuns(100), compacts);
  const ManifestState many = LsmWithRuns(10'000);
  EXPECT_LE(BytesToStage(many, compacts), few_runs + kMore);

  Edit sweeps;
  Family(&sweeps).set_index_segments = {{1000, {}, 10 * kPageSize, 4}, {900'000, {}, 3 * kPageSize, 1}};
  const std::uint64_t few_segments = BytesToStage(TreeWithSegments(100), sweeps);
  EXPECT_LE(BytesToStage(TreeWithSegments(10'000), sweeps), few_segments + kMore);

  const MutantScope mutant(Mutant::kEditCopiesFamily);
  EXPECT_GT(BytesToStage(many, compacts), few_runs + kMore);
}

// Memory runs out at each allocation of an edit that changes files of all kinds. The state is the one before or the one
// after the edit.
TEST(ApplyEditTest, OutOfMemoryAppliesNoPartOfAnEdit) {
  const ManifestState tree = TreeWithSegments(200);
  Edit sweeps;
  sweeps.set_segments = {SealedLogOf(12, 2), LogOf(60, 5)};
  sweeps.replay = {60, 0};
  Family(&sweeps).add_runs = {RunOf(900'000)};
  Family(&sweeps).layers = {900'000, 32, 31, 30};
  Family(&sweeps).set_index_segments = {{1000, {}, 10 * kPageSize, 4}, {900'001, {}, 3 * kPageSize, 1}};
  Family(&sweeps).drop_index_segments = {1001};
  Family(&sweeps).accounts.Add(Slot{0}, {1, 100});
  Family(&sweeps).accounts.Add(Slot{1}, {1, 100});
  const ManifestState lsm = LsmWithRuns(200);
  Edit compacts;
  Family(&compacts).add_runs = {RunOf(900'000), RunOf(900'001)};
  Family(&compacts).layers = {900'000, 32};
  Family(&compacts).place_runs = {{900'001, 2, 0}, {1001, 2, 1}};
  Family(&compacts).drop_level_runs = {1000, 1002};
  for (const auto& [before, edit] : {std::pair(&tree, &sweeps), std::pair(&lsm, &compacts)}) {
    ManifestState after = *before;
    ASSERT_TRUE(ApplyEdit(*edit, &after).ok());
    std::uint64_t refused = 1;
    for (std::uint64_t granted = 0; refused != 0; ++granted) {
      ManifestState state = *before;
      StateIndex index(state);
      testing::ScarceMemory scarce(granted);
      try {
        static_cast<void>(ApplyEdit(*edit, &state, &index));
      } catch (const std::bad_alloc&) {
      }
      refused = scarce.End();
      ASSERT_TRUE(state == *before || state == after) << granted;
      if (refused == 0) {
        ASSERT_TRUE(state == after && index == StateIndex(after));
      }
    }
  }
}

}  // namespace
}  // namespace cambium
