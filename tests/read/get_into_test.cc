// DB::GetInto: what it copies into the caller's memory, what it leaves as it is, and that it finds damage.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "cambium/statistics.h"
#include "testing/test_comparators.h"
#include "testing/test_store.h"
#include "vlog/segment_map.h"

namespace cambium::testing::get_into_test {
namespace {

// Inline values, values in the log with short and long records, and values with files of their own.
const std::vector<std::size_t> kSizes = {0, 1, 100, 300, 511, 512, 1'024, 4'500, 4'700, 20'000, 100'000};

std::string KeyOf(std::size_t size) { return "key of " + std::to_string(size); }
std::string ValueOf(std::size_t size) {
  std::string value = "value of " + std::to_string(size) + std::string(size, 'v');
  value.resize(size);
  return value;
}

// How the values are stored and read.
struct Way {
  bool flushed;
  bool mapped;
  bool resident;
  bool compressed;
  bool at_snapshot;
  [[nodiscard]] std::string Text() const {
    return std::string(flushed ? "flushed" : "in memtables") + (mapped ? ", mapped" : "") +
           (resident ? ", in memory" : ", cold") + (compressed ? ", compressed" : "") +
           (at_snapshot ? ", at a snapshot" : "");
  }
};

std::vector<Way> AllWays() {
  std::vector<Way> ways;
  for (unsigned bits = 0; bits < 32; ++bits) {
    ways.push_back({(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0});
  }
  return ways;
}

class IntoStore : public TestStore {
 public:
  explicit IntoStore(const Way& way) {
    options.blob_file_size = 1u << 20;
    options.large_value_size = 64u << 10;
    options.allow_mmap_reads = way.mapped;
    options.enable_blob_garbage_collection = false;
    if (way.compressed) options.blob_compression_type = CompressionType::kLZ4Compression;
    MustOpen();
    for (const std::size_t size : kSizes) Put(KeyOf(size), ValueOf(size));
    Put("gone", "x");
    EXPECT_TRUE(db->Delete({}, "gone").ok());
    if (way.flushed) {
      Compact();
      Reopen();  // the end of a segment that still grows is not mapped
    }
    if (way.at_snapshot) {
      read.snapshot = snapshot_ = db->GetSnapshot();
      for (const std::size_t size : kSizes) Put(KeyOf(size), "newer");
    }
    if (way.flushed) Compact();
    fs->SetResident(way.resident);
    SegmentMap::ResetThreadCounters();
  }
  ~IntoStore() {
    if (snapshot_ != nullptr) db->ReleaseSnapshot(snapshot_);
  }

  ReadOptions read;

 private:
  const Snapshot* snapshot_ = nullptr;
};

// Buffers from none to one that is too large. Many rounds, because a read asks only now and then whether a value is in
// memory, and so takes another way later.
TEST(GetIntoTest, ValuesThatFitAreCopied) {
  for (const Way& way : AllWays()) {
    SCOPED_TRACE(way.Text());
    IntoStore store(way);
    for (int round = 0; round < 12; ++round) {
      for (const std::size_t size : kSizes) {
        for (const std::size_t room : {std::size_t{0}, size / 2, size == 0 ? 0 : size - 1, size, size + 10}) {
          std::string buffer(room, '#');
          std::size_t found = 77;
          const Status status = store.db->GetInto(store.read, KeyOf(size), buffer, &found);
          ASSERT_TRUE(status.ok()) << status.ToString();
          ASSERT_EQ(found, size);
          if (room < size) {
            ASSERT_TRUE(buffer == std::string(room, '#')) << "bytes of a value that does not fit: " << size;
          } else {
            ASSERT_TRUE(buffer.substr(0, size) == ValueOf(size)) << size;
            ASSERT_TRUE(buffer.substr(size) == std::string(room - size, '#')) << "bytes after a value of " << size;
          }
        }
      }
    }
    for (const char* const key : {"absent", "gone"}) {
      char byte = '#';
      std::size_t found = 77;
      EXPECT_TRUE(store.db->GetInto(store.read, key, {&byte, 1}, &found).IsNotFound()) << key;
      EXPECT_EQ(found, 0u);
      EXPECT_EQ(byte, '#');
    }
  }
}

// A bit of each value is changed. A value that does not fit is not read, so its damage may remain unnoticed.
TEST(GetIntoTest, DamageIsFound) {
  for (const Way& way : AllWays()) {
    if (way.compressed) continue;  // the values cannot be found in the files
    SCOPED_TRACE(way.Text());
    IntoStore store(way);
    for (const std::size_t size : kSizes) {
      if (size < 512) continue;
      bool is_damaged = false;
      for (const auto& [path, bytes] : store.Files()) {
        const std::size_t at = bytes.find(ValueOf(size).substr(0, 40));
        if (path.find(".log") == std::string::npos && path.find(".val") == std::string::npos) continue;
        if (at == std::string::npos) continue;
        ASSERT_TRUE(store.fs->tampering().FlipBit(path, at + size / 2, 3).ok());
        is_damaged = true;
      }
      ASSERT_TRUE(is_damaged) << size;
      store.fs->SetResident(way.resident);
      for (int round = 0; round < 12; ++round) {
        std::string buffer(size, '#');
        std::size_t found = 77;
        const Status status = store.db->GetInto(store.read, KeyOf(size), buffer, &found);
        ASSERT_TRUE(status.IsCorruption()) << size << ": " << status.ToString();
        ASSERT_EQ(found, 0u);
        ReadOptions trusting = store.read;
        trusting.verify_checksums = false;
        ASSERT_TRUE(store.db->GetInto(trusting, KeyOf(size), buffer, &found).ok());
        ASSERT_EQ(found, size);
        ASSERT_TRUE(buffer != ValueOf(size)) << size;
      }
    }
  }
}

// A long value is copied once, out of the mapping into the buffer: its record is not copied first.
TEST(GetIntoTest, LongValueIsCopiedOnce) {
  IntoStore store({.flushed = true, .mapped = true, .resident = true, .compressed = false, .at_snapshot = false});
  constexpr std::size_t kSize = 20'000;
  std::string buffer(kSize, '#');
  std::size_t found = 0;
  const auto read = [&] { return store.db->GetInto({}, KeyOf(kSize), buffer, &found).ok(); };
  const std::uint64_t copies = store.fs->read_counts().mapped_copies;
  for (int i = 0; i < 200 && store.fs->read_counts().mapped_copies == copies; ++i) ASSERT_TRUE(read());
  const std::uint64_t before = store.fs->read_counts().copied_bytes;
  ASSERT_TRUE(read());
  const std::uint64_t copied = store.fs->read_counts().copied_bytes - before;
  EXPECT_GE(copied, kSize);
  EXPECT_LE(copied, kSize + 100) << "the value, its header and its key";
}

// To learn the size of a long value that is not in memory, its header is enough.
TEST(GetIntoTest, LongColdValueIsNotReadForItsSize) {
  for (const bool mapped : {false, true}) {
    IntoStore store({.flushed = true, .mapped = mapped, .resident = false, .compressed = false, .at_snapshot = false});
    for (const std::size_t size : {std::size_t{20'000}, std::size_t{100'000}}) {
      std::string buffer(4'096, '#');
      std::size_t found = 0;
      const std::uint64_t before = store.fs->read_counts().copied_bytes;
      ASSERT_TRUE(store.db->GetInto({}, KeyOf(size), buffer, &found).ok());
      EXPECT_EQ(found, size);
      EXPECT_LE(store.fs->read_counts().copied_bytes - before, 5'000u) << size;
    }
  }
}

TEST(GetIntoTest, BadArgumentsAreErrors) {
  TestStore store;
  store.MustOpen();
  store.Put("key", "value");
  char byte = '#';
  std::size_t found = 77;
  EXPECT_TRUE(store.db->GetInto({}, "key", {&byte, 1}, nullptr).IsInvalidArgument());
  EXPECT_TRUE(store.db->GetInto({}, nullptr, "key", {&byte, 1}, &found).IsInvalidArgument());
  EXPECT_EQ(found, 0u);
  ReadOptions both;
  both.durable_only = true;
  both.snapshot = store.db->GetSnapshot();
  EXPECT_TRUE(store.db->GetInto(both, "key", {&byte, 1}, &found).IsInvalidArgument());
  store.db->ReleaseSnapshot(both.snapshot);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "x", &family).ok());
  EXPECT_TRUE(store.db->GetInto({}, family, "key", {&byte, 1}, &found).IsNotFound());
  ASSERT_TRUE(store.db->DropColumnFamily(family).ok());
  EXPECT_TRUE(store.db->GetInto({}, family, "key", {&byte, 1}, &found).IsColumnFamilyDropped());
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
}

// An order that folds case: the record's key has other bytes than the key that is looked up.
TEST(GetIntoTest, EqualKeysMayHaveOtherBytes) {
  TestStore store;
  store.options.comparator = CaseFoldingComparator();
  store.options.allow_mmap_reads = true;
  store.MustOpen();
  store.Put("Oak", std::string(2'000, 'o'));
  store.Compact();
  store.fs->SetResident(true);
  SegmentMap::ResetThreadCounters();
  for (int round = 0; round < 20; ++round) {
    std::string buffer(2'000, '#');
    std::size_t found = 0;
    ASSERT_TRUE(store.db->GetInto({}, "oAK", buffer, &found).ok());
    ASSERT_EQ(found, 2'000u);
    ASSERT_EQ(buffer, std::string(2'000, 'o'));
  }
}

TEST(GetIntoTest, StatisticsCountTheValue) {
  TestStore store;
  store.options.statistics = CreateDBStatistics();
  store.MustOpen();
  store.Put("key", std::string(3'000, 'v'));
  std::string buffer(10, '#');
  std::size_t found = 0;
  ASSERT_TRUE(store.db->GetInto({}, "key", buffer, &found).ok());
  EXPECT_EQ(store.options.statistics->getTickerCount(NUMBER_KEYS_READ), 1u);
  EXPECT_EQ(store.options.statistics->getTickerCount(BYTES_READ), 3'000u);
}

}  // namespace
}  // namespace cambium::testing::get_into_test
