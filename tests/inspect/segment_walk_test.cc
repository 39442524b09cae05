#include "inspect/segment_walk.h"

#include <gtest/gtest.h>

#include "inspect/inspected_store.h"
#include "io/file_header.h"

namespace cambium::testing::segment_walk_test {
namespace {

struct Walked {
  Status status;
  std::vector<std::string> keys;      // of records that are not control records
  std::vector<std::uint64_t> offsets;  // of the same records
  std::vector<DamagedStretch> damage;
  std::uint64_t log_end = 0;
};

// A log of five records with values of 100 bytes.
class SegmentWalkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    store_.MustOpen();
    for (int i = 0; i < 5; ++i) store_.Put(NumberedKey(i), std::string(100, static_cast<char>('a' + i)));
    store_.MustClose();
    path_ = store_.FilesOf(".log").front();
    whole_ = Walk();
    ASSERT_TRUE(whole_.status.ok()) << whole_.status.ToString();
    ASSERT_EQ(whole_.keys.size(), 5u);
    ASSERT_TRUE(whole_.damage.empty());
  }

  Walked Walk(const Status& on_record = Status::OK()) {
    Walked walked;
    std::unique_ptr<File> file;
    EXPECT_TRUE(store_.fs->Open(path_, OpenMode::kReadOnly, {}, &file).ok());
    FileInfo info;
    EXPECT_TRUE(file->GetInfo(&info).ok());
    const Result<FileHeader> header = ReadFileHeader(*file, FileKind::kLog, ParseFileName(Name())->number);
    EXPECT_TRUE(header.ok()) << header.status().ToString();
    SegmentWalkCallbacks callbacks;
    callbacks.on_record = [&](const ScannedRecord& record) {
      if (IsControl(record.header.op)) return Status::OK();
      walked.keys.push_back(record.key.ToString());
      walked.offsets.push_back(record.offset);
      return on_record;
    };
    callbacks.on_damage = [&](const DamagedStretch& stretch) {
      walked.damage.push_back(stretch);
      return Status::OK();
    };
    walked.status =
        WalkSegment(*file, header->Seed(), kFileHeaderSize, info.size, {}, callbacks, &walked.log_end);
    return walked;
  }
  std::string Name() const { return path_.substr(path_.rfind('/') + 1); }

  InspectedStore store_;
  std::string path_;
  Walked whole_;
};

TEST_F(SegmentWalkTest, ContinuesAfterADamagedBody) {
  ASSERT_TRUE(store_.fs->tampering().FlipBit(path_, whole_.offsets[2] + kRecordHeaderSize + 20, 0).ok());
  const Walked walked = Walk();
  ASSERT_TRUE(walked.status.ok()) << walked.status.ToString();
  EXPECT_EQ(walked.keys, (std::vector<std::string>{"k0000", "k0001", "k0003", "k0004"}));
  ASSERT_EQ(walked.damage.size(), 1u);
  EXPECT_EQ(walked.damage[0].offset, whole_.offsets[2]);
  EXPECT_EQ(walked.damage[0].end, whole_.offsets[3]);
  EXPECT_FALSE(walked.damage[0].reason.empty());
  EXPECT_EQ(walked.log_end, whole_.log_end);
}

TEST_F(SegmentWalkTest, ContinuesAfterDamagedHeaders) {
  ASSERT_TRUE(store_.fs->tampering().FlipBit(path_, whole_.offsets[1] + 3, 0).ok());
  ASSERT_TRUE(store_.fs->tampering().FlipBit(path_, whole_.offsets[2] + 3, 0).ok());
  const Walked walked = Walk();
  ASSERT_TRUE(walked.status.ok()) << walked.status.ToString();
  EXPECT_EQ(walked.keys, (std::vector<std::string>{"k0000", "k0003", "k0004"}));
  ASSERT_EQ(walked.damage.size(), 1u);
  EXPECT_EQ(walked.damage[0].offset, whole_.offsets[1]);
  EXPECT_EQ(walked.damage[0].end, whole_.offsets[3]);
}

TEST_F(SegmentWalkTest, ZerosAtTheEndAreNotDamage) {
  const std::uint64_t size = store_.Files().at(path_).size();
  ASSERT_TRUE(store_.fs->tampering().Truncate(path_, size + 4096).ok());
  const Walked walked = Walk();
  EXPECT_TRUE(walked.damage.empty());
  EXPECT_EQ(walked.keys, whole_.keys);
  EXPECT_EQ(walked.log_end, whole_.log_end);
}

TEST_F(SegmentWalkTest, DamageAtTheEndReachesToTheEnd) {
  ASSERT_TRUE(store_.fs->tampering().Truncate(path_, whole_.offsets[4] + kRecordHeaderSize + 30).ok());
  const Walked walked = Walk();
  ASSERT_TRUE(walked.status.ok()) << walked.status.ToString();
  EXPECT_EQ(walked.keys.size(), 4u);
  ASSERT_EQ(walked.damage.size(), 1u);
  EXPECT_EQ(walked.damage[0].end, whole_.offsets[4] + kRecordHeaderSize + 30);
  EXPECT_EQ(walked.log_end, whole_.offsets[4]);
}

TEST_F(SegmentWalkTest, ErrorOfACallbackEndsTheWalk) {
  const Walked walked = Walk(Status::Aborted("enough"));
  EXPECT_TRUE(walked.status.IsAborted()) << walked.status.ToString();
  EXPECT_EQ(walked.keys.size(), 1u);
}

}  // namespace
}  // namespace cambium::testing::segment_walk_test
