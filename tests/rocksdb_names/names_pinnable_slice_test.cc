// PinnableSlice with a buffer of the caller's: whatever read fills it, the buffer has exactly the value.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::PinnableSlice;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::Slice;
using ROCKSDB_NAMESPACE::Status;

namespace rocksdb_names_test::names_pinnable_slice_test {

class NamesPinnableSliceTest : public NamesTest {
 protected:
  // Values in the memtable, inline in the index, in the log, and empty.
  void Fill() {
    options_.blob_compression_type = ROCKSDB_NAMESPACE::kZSTD;
    Open();
    Put("empty", "");
    Put("inline", "small");
    Put("separated", std::string(8000, 's'));
    ASSERT_TRUE(db_->Flush(ROCKSDB_NAMESPACE::FlushOptions()).ok());
    Put("unflushed", "new");
  }
  const std::vector<std::pair<std::string, std::string>> entries_ = {
      {"empty", ""}, {"inline", "small"}, {"separated", std::string(8000, 's')}, {"unflushed", "new"}};
};

TEST_F(NamesPinnableSliceTest, EachReadLeavesExactlyTheValueInTheBuffer) {
  Fill();
  for (const bool pins : {false, true}) {
    ReadOptions read;
    read.pin_mapped_values = pins;
    for (int round = 0; round < 3; ++round) {
      for (const auto& [key, value] : entries_) {
        std::string buffer = "what was there before";
        PinnableSlice slice(&buffer);
        ASSERT_TRUE(db_->Get(read, db_->DefaultColumnFamily(), key, &slice).ok());
        EXPECT_EQ(slice, Slice(value));
        EXPECT_EQ(buffer, value);
        EXPECT_EQ(slice.data(), buffer.data());
        EXPECT_FALSE(slice.IsPinned());
      }
    }
  }
}

TEST_F(NamesPinnableSliceTest, MultiGetFillsBuffersToo) {
  Fill();
  std::vector<std::string> buffers(entries_.size(), "before");
  std::vector<PinnableSlice> slices;
  std::vector<Slice> keys;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    slices.emplace_back(&buffers[i]);
    keys.emplace_back(entries_[i].first);
  }
  std::vector<Status> statuses(keys.size());
  db_->MultiGet(ReadOptions(), db_->DefaultColumnFamily(), keys.size(), keys.data(), slices.data(), statuses.data());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    EXPECT_TRUE(statuses[i].ok());
    EXPECT_EQ(buffers[i], entries_[i].second);
    EXPECT_EQ(slices[i], Slice(entries_[i].second));
  }
}

TEST_F(NamesPinnableSliceTest, AKeyThatIsMissingLeavesAnEmptySlice) {
  Fill();
  std::string buffer;
  PinnableSlice with_buffer(&buffer);
  PinnableSlice without;
  for (PinnableSlice* const each : {&with_buffer, &without}) {
    ASSERT_TRUE(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "inline", each).ok());
    EXPECT_EQ(*each, Slice("small"));
    EXPECT_TRUE(db_->Get(ReadOptions(), db_->DefaultColumnFamily(), "missing", each).IsNotFound());
    EXPECT_TRUE(each->empty());
  }
}

TEST_F(NamesPinnableSliceTest, MovesAndCutsKeepBufferAndSliceTogether) {
  std::string buffer;
  PinnableSlice slice(&buffer);
  slice.PinSelf(Slice("abcdef"));
  slice.remove_prefix(1);
  slice.remove_suffix(2);
  EXPECT_EQ(buffer, "bcd");
  PinnableSlice moved(std::move(slice));
  EXPECT_EQ(moved, Slice("bcd"));
  EXPECT_EQ(moved.data(), buffer.data());
  PinnableSlice own;
  own.PinSelf(Slice("short"));  // lies within the object, so a move changes its address
  own.remove_prefix(1);
  PinnableSlice other = std::move(own);
  EXPECT_EQ(other, Slice("hort"));
  EXPECT_EQ(other.data(), other.GetSelf()->data());
}

TEST_F(NamesPinnableSliceTest, PinnedBytesAreReleasedOnce) {
  static int released = 0;
  released = 0;
  const std::string bytes = "borrowed";
  {
    PinnableSlice slice;
    slice.PinSlice(bytes, [](void* count, void*) { ++*static_cast<int*>(count); }, &released, nullptr);
    EXPECT_TRUE(slice.IsPinned());
    slice.remove_prefix(3);
    PinnableSlice moved(std::move(slice));
    EXPECT_EQ(moved, Slice("rowed"));
    EXPECT_TRUE(moved.IsPinned());
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

}  // namespace rocksdb_names_test::names_pinnable_slice_test
