#include "index/index_file.h"

#include "index_test_util.h"

namespace cambium {
namespace {

using namespace cambium::testing;

std::shared_ptr<MemoryFile> FileWith(const FileHeader& header) {
  return std::make_shared<MemoryFile>("000007.idx", EncodeFileHeader(header));
}

TEST(IndexFileTest, OpenRejectsWrongFiles) {
  const FileHeader header = IndexHeader(7, 4096);
  const auto opened = IndexFile::Open(FileWith(header), FileKind::kIndex, 7, nullptr);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  EXPECT_EQ((*opened)->page_size(), 4096u);
  EXPECT_EQ((*opened)->seed(), header.Seed());
  EXPECT_TRUE(IndexFile::Open(FileWith(header), FileKind::kIndex, 8, nullptr).status().IsCorruption());
  EXPECT_TRUE(IndexFile::Open(FileWith(header), FileKind::kRun, 7, nullptr).status().IsCorruption());
  for (const std::uint32_t page_size : {0u, 256u, 513u, 4095u, 32768u}) {
    EXPECT_TRUE(
        IndexFile::Open(FileWith(IndexHeader(7, page_size)), FileKind::kIndex, 7, nullptr).status().IsCorruption());
  }
  auto cut = FileWith(header);
  cut->contents.resize(100);
  EXPECT_TRUE(IndexFile::Open(cut, FileKind::kIndex, 7, nullptr).status().IsCorruption());
}

TEST(FileSetTest, CopyWithOneChangeSharesTheRest) {
  const auto make = [](std::uint64_t number) {
    return std::make_shared<const IndexFile>(FileWith(IndexHeader(number, 4096)), IndexHeader(number, 4096), nullptr);
  };
  const FileSet empty;
  EXPECT_EQ(empty.Find(1), nullptr);
  EXPECT_EQ(empty.size(), 0u);
  const auto five = make(5);
  const FileSet one(five);
  const FileSet three = one.With(make(9)).With(make(2));
  EXPECT_EQ(three.size(), 3u);
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(three.Find(5), five.get());
  EXPECT_EQ(three.Find(2)->number(), 2u);
  EXPECT_EQ(three.Find(9)->number(), 9u);
  EXPECT_EQ(three.Find(3), nullptr);
  EXPECT_EQ(three.files()[0]->number(), 2u);
  EXPECT_EQ(three.Without(5).Find(5), nullptr);
  EXPECT_EQ(three.Without(5).size(), 2u);
  EXPECT_EQ(three.Without(6).size(), 3u);
  const auto other_five = make(5);
  EXPECT_EQ(three.With(other_five).Find(5), other_five.get());
  EXPECT_EQ(three.With(other_five).size(), 3u);
  EXPECT_TRUE(three.FileOf(MakePageId(77, 1, 1)).status().IsCorruption());
  EXPECT_EQ(*three.FileOf(MakePageId(5, 1, 1)), five.get());
}

}  // namespace
}  // namespace cambium
