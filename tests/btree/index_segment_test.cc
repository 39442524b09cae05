#include "btree/index_segment.h"

#include <gtest/gtest.h>

#include "io/sim/sim_file_system.h"
#include "manifest/file_names.h"

namespace cambium {
namespace {

constexpr std::uint32_t kPageSize = 512;

class IndexSegmentTest : public ::testing::Test {
 protected:
  CreateIndexFile Creator() {
    return [this]() -> Result<NewIndexFile> {
      NewIndexFile result;
      result.header.number = next_++;
      result.header.file_id[0] = 7;
      std::unique_ptr<File> file;
      CAMBIUM_RETURN_IF_ERROR(
          fs_.Open(FileName(FileKind::kIndex, result.header.number), OpenMode::kCreateNew, {}, &file));
      result.file = std::move(file);
      return result;
    };
  }

  // Appends a leaf with one entry, whose value is so long that the page has `units`.
  ChildRef Append(IndexSegmentWriter& writer, const std::string& key) {
    LeafBuilder leaf(BytewiseComparator(), {kPageSize, 100});
    EXPECT_TRUE(leaf.Add(key, Entry::Inline("v")).ok());
    Result<PageSink::Place> place = writer.Reserve(leaf.units());
    EXPECT_TRUE(place.ok()) << place.status().ToString();
    std::string page;
    const ChildRef ref = leaf.Finish(place->id, place->file_seed, &page);
    EXPECT_TRUE(writer.Append(ref.page, page).ok());
    return ref;
  }

  SimFileSystem fs_;
  PagePool pool_{1u << 20};
  std::uint64_t next_ = 1;
};

TEST_F(IndexSegmentTest, PagesAreReadableFromTheFilesAfterSync) {
  IndexSegmentWriter writer({kPageSize, 8 * kPageSize, 1500}, Creator(), nullptr);
  std::vector<ChildRef> refs;
  for (int i = 0; i < 40; ++i) refs.push_back(Append(writer, "key" + std::to_string(i)));
  ASSERT_TRUE(writer.Sync().ok());
  ASSERT_EQ(writer.segments().size(), 6u);  // each has seven pages and the header
  EXPECT_EQ(writer.bytes_appended(), 40u * kPageSize);
  FileSet files;
  std::uint64_t units = 0;
  for (const auto& segment : writer.segments()) {
    const std::string path = FileName(FileKind::kIndex, segment.file->number());
    EXPECT_TRUE(fs_.probe().IsDataDurable(path, segment.length));
    EXPECT_EQ(fs_.probe().DurableSize(path), segment.length);
    EXPECT_LE(segment.length, 8 * kPageSize);
    units += segment.units_added;
    std::unique_ptr<File> file;
    ASSERT_TRUE(fs_.Open(path, OpenMode::kReadOnly, {}, &file).ok());
    auto opened = IndexFile::Open(std::move(file), FileKind::kIndex, segment.file->number(), &pool_);
    ASSERT_TRUE(opened.ok()) << opened.status().ToString();
    EXPECT_EQ((*opened)->header().file_id, segment.info(3).file_id);
    files = files.With(*opened);
  }
  EXPECT_EQ(units, 40u);
  for (int i = 0; i < 40; ++i) {
    Result<PageRef> page = pool_.Get(files, refs[static_cast<std::size_t>(i)].page);
    ASSERT_TRUE(page.ok()) << page.status().ToString();
    std::string scratch;
    EXPECT_EQ((*page)->key(0, &scratch).ToString(), "key" + std::to_string(i));
  }
}

TEST_F(IndexSegmentTest, FreshPagesAreInThePool) {
  IndexSegmentWriter writer({kPageSize, 1u << 20, 1u << 20}, Creator(), &pool_);
  const ChildRef ref = Append(writer, "k");
  EXPECT_TRUE(pool_.Get(*writer.segments()[0].file, ref.page).ok()) << "readable before it is written to the file";
  EXPECT_EQ(fs_.calls(SimOpKind::kWrite), 0u);
}

TEST_F(IndexSegmentTest, NoPagesMakeNoFile) {
  IndexSegmentWriter writer({kPageSize, 1u << 20, 4096}, Creator(), nullptr);
  ASSERT_TRUE(writer.Sync().ok());
  EXPECT_TRUE(writer.segments().empty());
  EXPECT_EQ(next_, 1u);
}

TEST_F(IndexSegmentTest, PageLargerThanASegmentGetsItsOwn) {
  IndexSegmentWriter writer({kPageSize, kPageSize, 4096}, Creator(), nullptr);
  Append(writer, "short");
  Append(writer, std::string(5000, 'k'));
  Append(writer, "short");
  ASSERT_TRUE(writer.Sync().ok());
  EXPECT_EQ(writer.segments().size(), 3u);
}

TEST_F(IndexSegmentTest, SegmentIsContinuedAtItsCommittedLength) {
  IndexSegmentWriter first({kPageSize, 1u << 20, 4096}, Creator(), &pool_);
  const ChildRef a = Append(first, "a");
  ASSERT_TRUE(first.Sync().ok());
  const OpenIndexSegment open{first.segments()[0].file, first.segments()[0].length};
  IndexSegmentWriter second({kPageSize, 1u << 20, 4096}, Creator(), &pool_, open);
  const ChildRef b = Append(second, "b");
  ASSERT_TRUE(second.Sync().ok());
  ASSERT_EQ(second.segments().size(), 1u);
  EXPECT_EQ(second.segments()[0].file, open.file);
  EXPECT_EQ(second.segments()[0].units_added, 1u);
  EXPECT_EQ(UnitOffsetOf(b.page.id), UnitOffsetOf(a.page.id) + 1);
  EXPECT_EQ(next_, 2u);

  // There are bytes after the committed length, so the segment is not continued.
  IndexSegmentWriter third({kPageSize, 1u << 20, 4096}, Creator(), &pool_, open);
  Append(third, "c");
  ASSERT_TRUE(third.Sync().ok());
  EXPECT_NE(third.segments()[0].file, open.file);
}

TEST_F(IndexSegmentTest, FullSegmentIsNotContinued) {
  IndexSegmentWriter first({kPageSize, 2 * kPageSize, 4096}, Creator(), nullptr);
  Append(first, "a");
  ASSERT_TRUE(first.Sync().ok());
  IndexSegmentWriter second({kPageSize, 2 * kPageSize, 4096}, Creator(), nullptr,
                            {first.segments()[0].file, first.segments()[0].length});
  Append(second, "b");
  ASSERT_TRUE(second.Sync().ok());
  ASSERT_EQ(second.segments().size(), 1u) << "nothing was added to the full segment";
  EXPECT_NE(second.segments()[0].file, first.segments()[0].file);
}

TEST_F(IndexSegmentTest, ErrorFailsAllLaterCalls) {
  IndexSegmentWriter writer({kPageSize, 1u << 20, 1u << 20}, Creator(), nullptr);
  Append(writer, "a");
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fs_.AddFault(fault);
  EXPECT_TRUE(writer.Sync().IsIOError());
  fs_.ClearFaults();
  EXPECT_TRUE(writer.Sync().IsIOError());
  EXPECT_TRUE(writer.Reserve(1).status().IsIOError());
}

}  // namespace
}  // namespace cambium
