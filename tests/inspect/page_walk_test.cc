#include "inspect/page_walk.h"

#include <gtest/gtest.h>

#include "inspect/inspected_store.h"
#include "manifest/file_names.h"

namespace cambium::testing {
namespace {

struct Walked {
  Status status;
  std::uint64_t entries = 0;            // of leaves
  std::vector<std::uint64_t> offsets;   // of pages
  std::vector<std::uint64_t> sizes;     // of the same pages
  std::vector<DamagedStretch> damage;
};

// An index file with several pages.
class PageWalkTest : public ::testing::Test {
 protected:
  static constexpr int kEntries = 200;

  void SetUp() override {
    store_.MustOpen();
    for (int i = 0; i < kEntries; ++i) store_.Put(NumberedKey(i), "a small value");
    store_.Flush();
    store_.Compact();
    store_.RunUntilIdle();
    store_.MustClose();
    for (const std::string& path : store_.FilesOf(TestsUseLsm() ? ".run" : ".idx")) {
      if (path_.empty() || store_.Files().at(path).size() > store_.Files().at(path_).size()) path_ = path;
    }
    ASSERT_FALSE(path_.empty());
    const std::unique_ptr<InspectedDatabase> database = store_.Inspect();
    const FamilyState& family = *database->FindFamily(0)->state;
    const NumberedFile name = *ParseFileName(path_.substr(path_.rfind('/') + 1));
    // In a run, a filter and a footer follow the pages; the walk reports them as damage.
    end_ = TestsUseLsm() ? store_.Files().at(path_).size() : family.index_segments.find(name.number)->second.length;
    whole_ = Walk();
    ASSERT_TRUE(whole_.status.ok()) << whole_.status.ToString();
    ASSERT_GT(whole_.offsets.size(), 4u);
  }

  Walked Walk() {
    Walked walked;
    const NumberedFile name = *ParseFileName(path_.substr(path_.rfind('/') + 1));
    std::unique_ptr<File> file;
    EXPECT_TRUE(store_.fs->Open(path_, OpenMode::kReadOnly, {}, &file).ok());
    const auto pages = IndexFile::Open(std::move(file), name.kind, name.number, nullptr);
    EXPECT_TRUE(pages.ok()) << pages.status().ToString();
    PageWalkCallbacks callbacks;
    callbacks.on_page = [&](const WalkedPage& page) {
      walked.offsets.push_back(page.offset);
      walked.sizes.push_back(page.stored_bytes);
      if (page.view->is_leaf()) walked.entries += page.view->count();
      return Status::OK();
    };
    callbacks.on_damage = [&](const DamagedStretch& stretch) {
      walked.damage.push_back(stretch);
      return Status::OK();
    };
    walked.status = WalkPages(**pages, end_, callbacks);
    return walked;
  }

  InspectedStore store_;
  std::string path_;
  std::uint64_t end_ = 0;
  Walked whole_;
};

TEST_F(PageWalkTest, VisitsEveryPageInTheOrderOfTheFile) {
  EXPECT_GE(whole_.entries, static_cast<std::uint64_t>(kEntries));
  EXPECT_EQ(whole_.offsets.front(), store_.options.page_size);
  for (std::size_t i = 1; i < whole_.offsets.size(); ++i) {
    EXPECT_EQ(whole_.offsets[i], whole_.offsets[i - 1] + whole_.sizes[i - 1]);
  }
}

TEST_F(PageWalkTest, ContinuesAfterDamage) {
  ASSERT_TRUE(store_.fs->tampering().FlipBit(path_, whole_.offsets[1] + 20, 0).ok());
  ASSERT_TRUE(store_.fs->tampering().FlipBit(path_, whole_.offsets[2] + 20, 0).ok());
  const Walked walked = Walk();
  ASSERT_TRUE(walked.status.ok()) << walked.status.ToString();
  EXPECT_EQ(walked.offsets.size(), whole_.offsets.size() - 2);
  ASSERT_EQ(walked.damage.size(), whole_.damage.size() + 1);
  EXPECT_EQ(walked.damage[0].offset, whole_.offsets[1]);
  EXPECT_EQ(walked.damage[0].end, whole_.offsets[3]);
  EXPECT_NE(walked.damage[0].reason.find(path_), std::string::npos) << walked.damage[0].reason;
}

}  // namespace
}  // namespace cambium::testing
