#include "manifest/file_names.h"

#include <gtest/gtest.h>

#include "io/sim/sim_file_system.h"

namespace cambium {
namespace {

constexpr FileKind kKinds[] = {FileKind::kManifest, FileKind::kLog, FileKind::kLargeValue, FileKind::kRun,
                               FileKind::kIndex,    FileKind::kReserve, FileKind::kOptions,    FileKind::kTemporary};

TEST(FileNamesTest, NamesHaveTheDocumentedForm) {
  EXPECT_EQ(FileName(FileKind::kManifest, 12), "MANIFEST-000012");
  EXPECT_EQ(FileName(FileKind::kLog, 12), "000012.log");
  EXPECT_EQ(FileName(FileKind::kLargeValue, 12), "000012.val");
  EXPECT_EQ(FileName(FileKind::kRun, 999'999), "999999.run");
  EXPECT_EQ(FileName(FileKind::kIndex, 1'000'000), "1000000.idx");
  EXPECT_EQ(FileName(FileKind::kReserve, 12), "000012.rsv");
  EXPECT_EQ(FileName(FileKind::kOptions, 12), "OPTIONS-000012");
  EXPECT_EQ(FileName(FileKind::kTemporary, 12), "000012.dbtmp");
  EXPECT_EQ(FilePath("/db", FileKind::kLog, 1), "/db/000001.log");
}

TEST(FileNamesTest, FileNamesRoundTrip) {
  for (const FileKind kind : kKinds) {
    for (std::uint64_t number = 1; number <= kFileNumberMax / 3; number = number * 3 + 1) {
      const std::optional<NumberedFile> file = ParseFileName(FileName(kind, number));
      ASSERT_TRUE(file.has_value()) << FileName(kind, number);
      EXPECT_EQ(*file, (NumberedFile{kind, number}));
    }
    EXPECT_EQ(ParseFileName(FileName(kind, kFileNumberMax)), (NumberedFile{kind, kFileNumberMax}));
  }
}

TEST(FileNamesTest, UnknownFileNamesAreRejected) {
  for (const char* name :
       {"", "LOCK", "LOG", "LOG.old", "CURRENT", "MANIFEST", "MANIFEST-", "MANIFEST-12", "MANIFEST-0000012",
        "MANIFEST-000012.log", "OPTIONS-12", "OPTIONS-000012.dbtmp", "OPTIONS", "MANIFEST-OPTIONS-000012",
        "manifest-000012", "000012", "000012.", "000012.sst", "000012.LOG", "000012.log ",
        " 000012.log", "000012.log.tmp", "12.log", "00012.log", "0000012.log", "+00012.log", "-00012.log", "00001x.log",
        "0x0012.log", ".log", "000000.log", "MANIFEST-000000", "274877906944.log", "18446744073709551616.log",
        "99999999999999999999999999.log", "000012.log/", "a/000012.log"}) {
    EXPECT_FALSE(ParseFileName(name).has_value()) << name;
  }
  EXPECT_FALSE(ParseFileName(std::string_view("000012\0.log", 11)).has_value());
}

TEST(FileNamesTest, ListingIsSortedAndHasTheLargestNumber) {
  SimFileSystem fs;
  for (const char* name : {"000009.run", "MANIFEST-000003", "LOCK", "000002.log", "notes.txt", "1000000.log",
                           "000007.run"}) {
    ASSERT_TRUE(fs.tampering().WriteContents(std::string("/db/") + name, "x").ok());
  }
  const Result<std::vector<NumberedFile>> files = ListNumberedFiles(fs, "/db");
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, (std::vector<NumberedFile>{{FileKind::kManifest, 3},
                                               {FileKind::kLog, 2},
                                               {FileKind::kLog, 1'000'000},
                                               {FileKind::kRun, 7},
                                               {FileKind::kRun, 9}}));
  EXPECT_EQ(LargestNumber(*files), 1'000'000u);
  EXPECT_EQ(LargestNumber({}), 0u);
  EXPECT_FALSE(ListNumberedFiles(fs, "/nowhere").ok());
}

}  // namespace
}  // namespace cambium
