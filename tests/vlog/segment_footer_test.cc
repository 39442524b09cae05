#include "vlog/segment_footer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "testing/files/partial_file.h"
#include "testing/seed.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "vlog/vlog_test_util.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kSeed = 99;

struct Seen {
  RecordOp op;
  std::uint32_t family;
  std::string key;
  std::uint64_t offset;
  std::uint64_t size;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// A file whose log is `log_size` zeros, followed by `footer`.
std::unique_ptr<File> FileWith(SimFileSystem* fs, std::uint64_t log_size, const std::string& footer) {
  std::unique_ptr<File> file;
  EXPECT_TRUE(fs->Open("/f" + std::to_string(fs->operations()), OpenMode::kCreateNew, {}, &file).ok());
  EXPECT_TRUE(file->Write(0, std::string(log_size, '\0')).ok());
  EXPECT_TRUE(file->Write(log_size, footer).ok());
  return file;
}

Status ReadBack(const File& file, std::uint64_t log_size, std::uint64_t file_size, std::vector<Seen>* seen) {
  return ReadSegmentFooter(file, kSeed, kFileHeaderSize, log_size, file_size, [&](const FooterEntry& entry) {
    if (seen != nullptr) seen->push_back({entry.op, entry.family, entry.key.ToString(), entry.offset, entry.size});
    return Status::OK();
  });
}

TEST(SegmentFooterTest, ListsExactlyTheSeparatedRecords) {
  Prng prng(SeedFromEnvironment(31));
  for (int round = 0; round < 50; ++round) {
    SegmentFooterBuilder builder;
    std::vector<Seen> expected;
    std::uint64_t at = kFileHeaderSize;
    for (std::uint64_t i = prng.Skewed(7); i > 0; --i) {
      const std::string key = prng.Bytes(prng.Skewed(9));
      const std::uint64_t size = 8 * (1 + prng.Skewed(8));
      const bool separated = prng.OneIn(2);
      builder.AddRecord(RecordOp::kPut, 3, key, size, separated);
      if (separated) expected.push_back({RecordOp::kPut, 3, key, at, size});
      at += size;
    }
    const std::string footer = builder.Finish(kSeed, at);
    SimFileSystem fs;
    std::vector<Seen> seen;
    const auto file = FileWith(&fs, at, footer);
    const Status read = ReadBack(*file, at, at + footer.size(), &seen);
    ASSERT_TRUE(read.ok()) << read.ToString();
    EXPECT_EQ(seen, expected);
  }
}

TEST(SegmentFooterTest, EveryFlippedBitAndEveryCutIsCorruption) {
  SegmentFooterBuilder builder;
  builder.AddRecord(RecordOp::kLink, 0, {}, 80, false);
  builder.AddRecord(RecordOp::kPut, 0, "alpha", 128, true);
  builder.AddRecord(RecordOp::kDelete, 0, "beta", 64, false);
  const std::uint64_t end = kFileHeaderSize + 80 + 128 + 64;
  const std::string footer = builder.Finish(kSeed, end);
  SimFileSystem fs;
  for (std::size_t bit = 0; bit < 8 * footer.size(); ++bit) {
    std::string rotten = footer;
    rotten[bit / 8] = static_cast<char>(rotten[bit / 8] ^ (1 << bit % 8));
    EXPECT_TRUE(ReadBack(*FileWith(&fs, end, rotten), end, end + footer.size(), nullptr).IsCorruption()) << bit;
  }
  for (std::size_t size = 0; size < footer.size(); ++size) {
    const auto file = FileWith(&fs, end, footer.substr(0, size));
    EXPECT_TRUE(ReadBack(*file, end, end + footer.size(), nullptr).IsCorruption());
    EXPECT_TRUE(ReadBack(*file, end, end + size, nullptr).IsCorruption());
  }
  // A footer that was written at another offset.
  const auto moved = FileWith(&fs, end + 8, footer);
  EXPECT_TRUE(ReadBack(*moved, end + 8, end + 8 + footer.size(), nullptr).IsCorruption());
}

// Entries with a right checksum that do not cover the segment exactly.
TEST(SegmentFooterTest, ForgedEntriesAreCorruption) {
  const std::uint64_t end = kFileHeaderSize + 800;
  const auto finish = [&](std::string entries, std::uint64_t count, std::uint64_t size) {
    PutFixed<std::uint64_t>(&entries, size);
    PutFixed<std::uint64_t>(&entries, count);
    PutFixed<std::uint64_t>(&entries, 0);
    PutFixed<std::uint64_t>(&entries, Checksum64(entries, SeedAt(kSeed, end)));
    return entries;
  };
  const auto gap = [](std::uint64_t units) {
    std::string entry;
    PutVarint64(&entry, 0);
    PutVarint64(&entry, units);
    return entry;
  };
  const auto record = [](std::uint64_t units, std::uint64_t op, const std::string& key) {
    std::string entry;
    PutVarint64(&entry, op);
    PutVarint64(&entry, 0);
    PutVarint64(&entry, units);
    PutLengthPrefixed(&entry, key);
    return entry;
  };
  SimFileSystem fs;
  const auto read = [&](const std::string& entries, std::uint64_t count) {
    const std::string footer = finish(entries, count, entries.size());
    return ReadBack(*FileWith(&fs, end, footer), end, end + footer.size(), nullptr);
  };
  EXPECT_TRUE(read(gap(100), 1).ok());
  EXPECT_TRUE(read(gap(40) + record(60, 1, "k"), 2).ok());
  EXPECT_TRUE(read(gap(99), 1).IsCorruption());                        // a gap at the end
  EXPECT_TRUE(read(gap(101), 1).IsCorruption());                       // beyond it
  EXPECT_TRUE(read(gap(~std::uint64_t{0}), 1).IsCorruption());
  EXPECT_TRUE(read(gap(50) + gap(~std::uint64_t{0} - 49), 2).IsCorruption());  // wraps around
  EXPECT_TRUE(read(gap(0) + gap(100), 2).IsCorruption());              // an entry of nothing
  EXPECT_TRUE(read(gap(100), 2).IsCorruption());                       // fewer entries than the count
  EXPECT_TRUE(read(gap(50) + gap(50), 1).IsCorruption());              // more entries than the count
  EXPECT_TRUE(read(gap(100), ~std::uint64_t{0}).IsCorruption());
  EXPECT_TRUE(read("", 0).IsCorruption());
  EXPECT_TRUE(read(record(100, 300, "k"), 1).IsCorruption());          // no such operation
  EXPECT_TRUE(read(record(100, 1, std::string((64 << 10) + 1, 'k')), 1).IsCorruption());
  std::string unfinished = record(100, 1, "key");
  unfinished.pop_back();
  EXPECT_TRUE(read(unfinished, 1).IsCorruption());
  const std::string lying = finish(gap(100), 1, 1'000'000);
  EXPECT_TRUE(ReadBack(*FileWith(&fs, end, lying), end, end + lying.size(), nullptr).IsCorruption());
}

TEST(SegmentFooterTest, ReadErrorIsAnIOError) {
  SegmentFooterBuilder builder;
  builder.AddRecord(RecordOp::kPut, 0, "alpha", 128, true);
  const std::uint64_t end = kFileHeaderSize + 128;
  const std::string footer = builder.Finish(kSeed, end);
  SimFileSystem fs;
  const auto file = FileWith(&fs, end, footer);
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  fs.AddFault(fault);
  EXPECT_TRUE(ReadBack(*file, end, end + footer.size(), nullptr).IsIOError());
}

// A file of zeros, of any size, that ends with `trailer`. Records the size of the largest read.
class SparseFile final : public testing::PartialFile {
 public:
  SparseFile(std::uint64_t size, std::string trailer)
      : PartialFile("/sparse"), size_(size), trailer_(std::move(trailer)) {}
  Status Read(std::uint64_t offset, std::size_t n, char* to, std::size_t* read) const override {
    largest_ = std::max<std::uint64_t>(largest_, n);
    total_ += n;
    *read = static_cast<std::size_t>(std::min<std::uint64_t>(n, size_ - std::min(size_, offset)));
    const std::uint64_t trailer_at = size_ - trailer_.size();
    for (std::size_t i = 0; i < *read; ++i) to[i] = offset + i < trailer_at ? '\0' : trailer_[offset + i - trailer_at];
    return Status::OK();
  }
  Status GetInfo(FileInfo* info) const override {
    info->size = size_;
    return Status::OK();
  }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  const std::uint64_t size_;
  const std::string trailer_;
  mutable std::uint64_t largest_ = 0;
  mutable std::uint64_t total_ = 0;
};

// FindFooter must use the footer's size before it can check it. (Regression: the size was trusted up to the size of the
// file. A file with holes may be larger than the disk, and a repair allocated as much memory.) Nor does it read all the
// zeros at the end of such a file.
TEST(SegmentFooterTest, FindFooterDoesNotTrustAHugeSize) {
  for (const std::uint64_t entries : {std::uint64_t{6'000}, std::uint64_t{100} << 20}) {
    const std::uint64_t size = entries == 6'000 ? 10'000 : std::uint64_t{1} << 40;
    std::string trailer;
    PutFixed<std::uint64_t>(&trailer, entries);
    trailer.resize(kFooterTrailerSize);
    const SparseFile file(size, trailer);
    const Result<std::uint64_t> found = FindFooter(file, kSeed, size);
    ASSERT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_EQ(*found, 0u);
    EXPECT_LE(file.largest(), 64u << 10);
    EXPECT_LE(file.total(), 5u << 20);
  }
  const SparseFile zeros(std::uint64_t{1} << 40, std::string(kFooterTrailerSize, '\0'));
  const Result<std::uint64_t> found = FindFooter(zeros, kSeed, std::uint64_t{1} << 40);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ(*found, 0u);
  EXPECT_LE(zeros.total(), 5u << 20);
}

// The process ended after the footer was written, and before the space ahead of the log was given back.
TEST(SegmentFooterTest, FooterIsFoundBeforeZeros) {
  for (int round = 0; round < 600; ++round) {  // some checksums end with a zero
    SegmentFooterBuilder builder;
    const std::string key = "key" + std::to_string(round);
    builder.AddRecord(RecordOp::kPut, 0, key, 800, true);
    const std::uint64_t end = kFileHeaderSize + 800;
    std::string bytes(end, 'r');
    bytes += builder.Finish(kSeed, end);
    for (const std::size_t zeros : {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{100'000}}) {
      const auto fs = std::make_shared<SimFileSystem>();
      ASSERT_TRUE(fs->tampering().WriteContents("/segment", bytes + std::string(zeros, '\0')).ok());
      std::unique_ptr<File> file;
      ASSERT_TRUE(fs->Open("/segment", OpenMode::kReadOnly, {}, &file).ok());
      const Result<std::uint64_t> found = FindFooter(*file, kSeed, bytes.size() + zeros);
      ASSERT_TRUE(found.ok()) << found.status().ToString();
      ASSERT_EQ(*found, end) << "round " << round << ", " << zeros << " zeros";
    }
  }
}

}  // namespace
}  // namespace cambium::testing
