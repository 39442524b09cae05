#include "inspect/record_fate.h"

#include <gtest/gtest.h>

#include <map>

#include "inspect/inspected_store.h"
#include "inspect/segment_walk.h"
#include "io/file_header.h"

namespace cambium::testing {
namespace {

// The fates of each key's records, in the order of the log; control records are under "".
using Fates = std::map<std::string, std::vector<RecordFate>>;

Fates FatesOf(InspectedDatabase* database) {
  Fates fates;
  for (const auto& [number, info] : database->state().segments) {
    if (info.kind == SegmentKind::kLargeValue) continue;
    const std::shared_ptr<Segment>& segment = database->segments().Find(info.slot);
    if (segment == nullptr) continue;
    SegmentWalkCallbacks callbacks;
    callbacks.on_record = [&, &its = info](const ScannedRecord& record) -> Status {
      CAMBIUM_TRY(const RecordFate fate, FateOf(database, its, record.offset, record.header, record.key));
      fates[record.key.ToString()].push_back(fate);
      return Status::OK();
    };
    callbacks.on_damage = [](const DamagedStretch& stretch) { return Status::Corruption(stretch.reason); };
    std::uint64_t end = 0;
    const Status walked = WalkSegment(segment->file(), segment->seed(), kFileHeaderSize, database->LogEndOf(info), {},
                                      callbacks, &end);
    EXPECT_TRUE(walked.ok()) << walked.ToString();
  }
  return fates;
}

std::vector<RecordMark> MarksOf(const std::vector<RecordFate>& fates) {
  std::vector<RecordMark> marks;
  for (const RecordFate& fate : fates) marks.push_back(fate.mark);
  return marks;
}
using Marks = std::vector<RecordMark>;
using enum RecordMark;

TEST(RecordFateTest, MarksRecordsByTheNewestEntryOfTheirKey) {
  InspectedStore store;
  const std::string value(100, 'v');
  store.MustOpen();
  for (const char* key : {"deleted", "kept", "overwritten", "rewritten"}) store.Put(key, value);
  store.Put("inline", "i");
  store.Flush();
  store.Put("overwritten", value);
  ASSERT_TRUE(store.db->Delete({}, "deleted").ok());
  store.Flush();
  store.Put("rewritten", value);
  store.Put("twice", value);
  store.Put("twice", value);
  ASSERT_TRUE(store.db->DeleteRange({}, "x", "y").ok());
  store.MustClose();
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  Fates fates = FatesOf(database.get());
  EXPECT_EQ(MarksOf(fates["kept"]), (Marks{kLive}));
  EXPECT_TRUE(fates["kept"][0].is_newest);
  EXPECT_EQ(MarksOf(fates["overwritten"]), (Marks{kDead, kLive}));
  EXPECT_NE(fates["overwritten"][0].moved_to.word(), 0u);
  EXPECT_EQ(MarksOf(fates["deleted"]), (Marks{kDead, kDead}));
  EXPECT_EQ(MarksOf(fates["inline"]), (Marks{kDead}));
  EXPECT_EQ(MarksOf(fates["rewritten"]), (Marks{kDead, kPending}));
  EXPECT_EQ(MarksOf(fates["twice"]), (Marks{kPending, kPending}));
  EXPECT_FALSE(fates["twice"][0].is_newest);
  EXPECT_TRUE(fates["twice"][1].is_newest);
  EXPECT_EQ(MarksOf(fates["x"]), (Marks{kPending}));
  for (const RecordFate& fate : fates[""]) EXPECT_EQ(fate.mark, kControl);
  EXPECT_TRUE(database->problems().empty());
}

TEST(RecordFateTest, DamagedLayersMakeFateUnknown) {
  InspectedStore store;
  store.MustOpen();
  for (int i = 0; i < 50; ++i) store.Put(NumberedKey(i), std::string(100, 'v'));
  store.Flush();
  store.MustClose();
  store.DamageAllPages();
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  Fates fates = FatesOf(database.get());
  EXPECT_EQ(MarksOf(fates[NumberedKey(0)]), (Marks{kUnknown}));
  EXPECT_FALSE(database->problems().empty());
}

TEST(RecordFateTest, RecordsOfADroppedFamilyAreDead) {
  InspectedStore store;
  store.MustOpen();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &handle).ok());
  ASSERT_TRUE(store.db->Put({}, handle, "gone", std::string(100, 'v')).ok());
  ASSERT_TRUE(store.db->DropColumnFamily(handle).ok());
  delete handle;
  store.Put("kept", std::string(100, 'v'));
  store.MustClose();
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  Fates fates = FatesOf(database.get());
  EXPECT_EQ(MarksOf(fates["gone"]), (Marks{kDead}));
  EXPECT_EQ(MarksOf(fates["kept"]), (Marks{kPending}));
}

}  // namespace
}  // namespace cambium::testing
