#include "vlog/value_reader.h"

#include <gtest/gtest.h>

#include "testing/mutant_scope.h"
#include "util/coding.h"
#include "util/compression.h"
#include "util/prng.h"
#include "vlog/value_store.h"

namespace cambium::testing {
namespace {

TEST(ValueReaderTest, ReadsValuesOfEveryCodec) {
  Prng prng(1);
  ValueStore store;
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    for (const std::size_t size : {0u, 1u, 7u, 8u, 511u, 16384u, 16385u, 300'000u, 3'000'000u}) {
      std::string value(size, 'z');
      for (std::size_t i = 0; i < size; i += 50) value[i] = static_cast<char>(prng.Next());
      const ValueAddress address = store.Put("key" + std::to_string(size), value, codec);
      std::string read = "what was there before";
      const Status s = store.Read(address, "key" + std::to_string(size), &read);
      ASSERT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(read, value);
      EXPECT_TRUE(store.Check(address, "key" + std::to_string(size)).ok());
    }
  }
}

// Reads a record of the key "alpha" in family `record_family` as if an index in family 0 had its address for `key`.
Status ReadAs(const std::string& key, std::uint32_t record_family) {
  ValueStore store;
  const ValueAddress address = store.Put("alpha", std::string(100, 'a'), Codec::kNone, record_family);
  std::string value;
  return store.Read(address, key, &value);
}

TEST(ValueReaderTest, RecordOfAnotherKeyOrFamilyIsCorruption) {
  EXPECT_TRUE(ReadAs("alpha", 0).ok());
  for (const char* other : {"alphb", "alph", "alpha ", ""}) EXPECT_TRUE(ReadAs(other, 0).IsCorruption()) << other;
  EXPECT_TRUE(ReadAs("alpha", 1).IsCorruption());
  const MutantScope mutant(Mutant::kSkipFamilyKeyCheck);
  EXPECT_TRUE(ReadAs("alphb", 0).ok());
  EXPECT_TRUE(ReadAs("alpha", 1).ok());
}

TEST(ValueReaderTest, WrongAddressIsCorruptionNamingTheFile) {
  ValueStore store;
  const ValueAddress address = store.Put("k", std::string(100, 'a'));
  const std::uint64_t size = address.size();
  std::string value;
  const ValueAddress wrong[] = {
      ValueAddress::InLog(kStoreSlot, address.offset() + 8, size),
      ValueAddress::InLog(kStoreSlot, 0, size),
      ValueAddress::InLog(kStoreSlot, store.end, size),
      ValueAddress::InLog(kStoreSlot, kLogOffsetMax - 8, size),
      ValueAddress::InLog(kStoreSlot, address.offset(), 8),
      ValueAddress::InLog(kStoreSlot, address.offset(), size - 8),
      ValueAddress::OwnFile(kStoreSlot, size),
  };
  for (const ValueAddress a : wrong) {
    const Status s = store.Read(a, "k", &value);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_NE(s.ToString().find(store.segment->path()), std::string::npos) << s.ToString();
    EXPECT_TRUE(store.Check(a, "k").IsCorruption());
  }
  EXPECT_TRUE(store.Read(ValueAddress::InLog(Slot{4}, 128, size), "k", &value).IsCorruption());
  const auto last_slot = static_cast<Slot>(kSlotCountMax - 1);
  EXPECT_TRUE(store.Read(ValueAddress::InLog(last_slot, 128, size), "k", &value).IsCorruption());
  // A size above the record's is fine: size codes round up.
  EXPECT_TRUE(store.Read(ValueAddress::InLog(kStoreSlot, address.offset(), size + 800), "k", &value).ok());
  EXPECT_EQ(value, std::string(100, 'a'));
}

TEST(ValueReaderTest, RecordThatIsNotAPutIsCorruption) {
  for (const RecordOp op : {RecordOp::kDelete, RecordOp::kLink, RecordOp::kMark, RecordOp::kPutLarge}) {
    ValueStore store;
    RecordHeader header;
    header.op = op;
    const ValueAddress address = store.Forge(header, "k", std::string(24, 'x'));
    std::string value;
    EXPECT_TRUE(store.Read(address, "k", &value).IsCorruption());
  }
}

TEST(ValueReaderTest, EveryFlippedBitAndEveryCutIsCorruption) {
  ValueStore store;
  const std::string expected(100, 'a');
  const ValueAddress address = store.Put("key", expected);
  const std::uint64_t padding = store.end - (address.offset() + kRecordHeaderSize + 3 + 100);
  std::string value;
  for (std::uint64_t at = address.offset(); at < store.end; ++at) {
    for (const int bit : {0, 7}) {
      ASSERT_TRUE(store.fs.tampering().FlipBit(store.segment->path(), at, bit).ok());
      const Status s = store.Read(address, "key", &value);
      if (at < store.end - padding) {
        EXPECT_TRUE(s.IsCorruption()) << at;
      } else {
        EXPECT_TRUE(s.ok() && value == expected) << at;
      }
      // Header and key are checked even if the body's checksum is not.
      const Status unverified = store.Read(address, "key", &value, false);
      EXPECT_EQ(unverified.IsCorruption(), at < address.offset() + kRecordHeaderSize + 3) << at;
      ASSERT_TRUE(store.fs.tampering().FlipBit(store.segment->path(), at, bit).ok());
    }
  }
  for (std::uint64_t size = store.end - padding; size-- > 0;) {
    ASSERT_TRUE(store.fs.tampering().Truncate(store.segment->path(), size).ok());
    EXPECT_TRUE(store.Read(address, "key", &value).IsCorruption()) << size;
  }
}

// A record is read into the caller's buffer. If it is damaged, or of another key, the value must be empty.
TEST(ValueReaderTest, FailedReadReturnsNoBytes) {
  ValueStore store;
  const ValueAddress address = store.Put("key", std::string(100, 'a'));
  std::string value = "before";
  EXPECT_TRUE(store.Read(address, "another key", &value).IsCorruption());
  EXPECT_EQ(value, "");
  ASSERT_TRUE(
      store.fs.tampering().FlipBit(store.segment->path(), address.offset() + kRecordHeaderSize + 3 + 50, 0).ok());
  EXPECT_TRUE(store.Read(address, "key", &value).IsCorruption());
  EXPECT_EQ(value, "");
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  store.fs.AddFault(fault);
  EXPECT_TRUE(store.Read(address, "key", &value).IsIOError());
  EXPECT_EQ(value, "");
}

// Right checksums and wrong sizes: a read allocates memory only for bytes that the file has, or that they can
// decompress to.
TEST(ValueReaderTest, ForgedSizesAllocateNoMemory) {
  for (const FileKind kind : {FileKind::kLog, FileKind::kLargeValue}) {
    for (const Codec codec : {Codec::kLz4, Codec::kZstd}) {
      for (const std::uint64_t claimed : {std::uint64_t{1} << 30, std::uint64_t{0xffffffff}, std::uint64_t{1} << 40,
                                          ~std::uint64_t{0}}) {
        ValueStore store(kind);
        RecordHeader header;
        header.codec = codec;
        std::string stored;
        PutFixed<std::uint64_t>(&stored, claimed);
        stored += "some bytes that no codec wrote";
        const ValueAddress address = store.Forge(header, "k", stored);
        std::string value;
        const Status s = store.Read(address, "k", &value);
        EXPECT_TRUE(s.IsCorruption()) << s.ToString();
        EXPECT_LT(value.capacity(), 1u << 20);
      }
    }
  }
  ValueStore store;
  store.Put("k", "v");
  std::string value;
  EXPECT_TRUE(store.Read(ValueAddress::InLog(kStoreSlot, kFileHeaderSize, std::uint64_t{1} << 29), "k", &value).ok());
  EXPECT_LT(value.capacity(), 1u << 20);
}

// A frame of zstd says how many bytes it has, so a record that claims more gets no memory for them.
TEST(ValueReaderTest, WrongUncompressedSizeIsCorruption) {
  const std::string value(1u << 20, 'z');
  std::string frame;
  ASSERT_TRUE(Compress(Codec::kZstd, value, &frame));
  const auto read = [&](std::uint64_t claimed) {
    ValueStore store;
    RecordHeader header;
    header.codec = Codec::kZstd;
    std::string stored;
    PutFixed<std::uint64_t>(&stored, claimed);
    const ValueAddress address = store.Forge(header, "k", stored + frame);
    std::string found;
    return store.Read(address, "k", &found).ToString();
  };
  EXPECT_EQ(read(value.size()), "OK");
  for (const std::uint64_t claimed : {value.size() - 1, value.size() + 1, frame.size() * 32768}) {
    const std::string refused = read(claimed);
    EXPECT_NE(refused.find("/1.log:128: compressed value claims " + std::to_string(claimed) +
                           " bytes, and its frame has another size"),
              std::string::npos)
        << refused;
  }
  EXPECT_NE(read(frame.size() * 32768 + 1).find(" bytes can hold"), std::string::npos);
  const MutantScope mutant(Mutant::kTrustDeclaredSize);
  EXPECT_NE(read(value.size() + 1).find("does not decompress to its recorded size"), std::string::npos);
}

// A value is checked piece by piece, with the result of a read.
TEST(ValueReaderTest, CheckNeedsNoMemoryForTheValue) {
  constexpr std::size_t kSize = 5'000'000;
  Prng prng(3);
  const std::string value = prng.Bytes(kSize);
  for (const FileKind kind : {FileKind::kLog, FileKind::kLargeValue}) {
    ValueStore store(kind);
    const ValueAddress address = store.Put("key", value);
    const std::string& path = store.segment->path();
    const std::uint64_t begin = kind == FileKind::kLog ? address.offset() : kLargeRecordOffset;
    std::string buffer;
    const auto check = [&](Slice key = "key") {
      return CheckWholeValue(store.table, {address, kStoreFamily, key, true, nullptr}, &buffer).status();
    };
    EXPECT_TRUE(check().ok());
    EXPECT_LE(buffer.capacity(), 2u << 20);
    EXPECT_TRUE(check("kez").IsCorruption());
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{kRecordHeaderSize}, std::uint64_t{1} << 20,
                                   (std::uint64_t{2} << 20) - 1, kRecordHeaderSize + 3 + kSize - 1}) {
      ASSERT_TRUE(store.fs.tampering().FlipBit(path, begin + at, 2).ok());
      const Status damaged = check();
      EXPECT_TRUE(damaged.IsCorruption()) << at;
      EXPECT_NE(damaged.ToString().find(path + ":" + std::to_string(begin)), std::string::npos) << damaged.ToString();
      ASSERT_TRUE(store.fs.tampering().FlipBit(path, begin + at, 2).ok());
    }
    EXPECT_TRUE(check().ok());
    SimFault fault;
    fault.kind = SimOpKind::kRead;
    fault.nth = 3;
    store.fs.AddFault(fault);
    EXPECT_TRUE(check().IsIOError());
    store.fs.ClearFaults();
    {
      const MutantScope mutant(Mutant::kCheckHoldsValue);
      EXPECT_TRUE(check().ok());
      EXPECT_GT(buffer.capacity(), kSize);
    }
    ASSERT_TRUE(store.fs.tampering().Truncate(path, begin + (3u << 20)).ok());
    EXPECT_TRUE(check().IsCorruption());
  }
  ValueStore store;  // a compressed value is checked as a whole
  const std::string runs(kSize, 'r');
  const ValueAddress address = store.Put("key", runs + value, Codec::kZstd);
  std::string buffer;
  EXPECT_TRUE(CheckWholeValue(store.table, {address, kStoreFamily, "key", true, nullptr}, &buffer).ok());
}

TEST(ValueReaderTest, ReadErrorIsAnIOErrorAndNotSticky) {
  ValueStore store;
  const ValueAddress address = store.Put("k", "value");
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  store.fs.AddFault(fault);
  std::string value;
  EXPECT_TRUE(store.Read(address, "k", &value).IsIOError());
  EXPECT_TRUE(store.Read(address, "k", &value).ok());
  EXPECT_EQ(value, "value");
}

}  // namespace
}  // namespace cambium::testing
