#include "rocksdb_c/batch_format.h"

#include <cstdint>

#include "api/batch_tags.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium::rocks {
namespace {

constexpr std::size_t kHeaderSize = 12;
constexpr std::size_t kCountOffset = 8;
constexpr std::uint32_t kRefusedCount = 0xffffffff;  // no batch has as many operations

// RocksDB's tags. Those with a family have numbers of their own.
enum RocksTag : unsigned char {
  kRocksDelete = 0x0,
  kRocksPut = 0x1,
  kRocksMerge = 0x2,
  kRocksLogData = 0x3,
  kRocksFamilyDelete = 0x4,
  kRocksFamilyPut = 0x5,
  kRocksFamilyMerge = 0x6,
  kRocksSingleDelete = 0x7,
  kRocksFamilySingleDelete = 0x8,
  kRocksNoop = 0xd,
  kRocksFamilyDeleteRange = 0xe,
  kRocksDeleteRange = 0xf,
};

class Encoder final : public WriteBatch::Handler {
 public:
  explicit Encoder(std::string* out) : out_(*out) {}
  Status Put(Slice key, Slice value) override { return PutCF(0, key, value); }
  Status Delete(Slice key) override { return DeleteCF(0, key); }
  Status PutCF(std::uint32_t family, Slice key, Slice value) override {
    return Add(kRocksPut, kRocksFamilyPut, family, key, &value);
  }
  Status DeleteCF(std::uint32_t family, Slice key) override {
    return Add(kRocksDelete, kRocksFamilyDelete, family, key, nullptr);
  }
  Status SingleDeleteCF(std::uint32_t family, Slice key) override {
    return Add(kRocksSingleDelete, kRocksFamilySingleDelete, family, key, nullptr);
  }
  Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end) override {
    return Add(kRocksDeleteRange, kRocksFamilyDeleteRange, family, begin, &end);
  }

 private:
  Status Add(RocksTag of_default, RocksTag of_family, std::uint32_t family, Slice key, const Slice* value) {
    out_ += static_cast<char>(family == 0 ? of_default : of_family);
    if (family != 0) PutVarint64(&out_, family);
    PutLengthPrefixed(&out_, key);
    if (value != nullptr) PutLengthPrefixed(&out_, *value);
    return Status::OK();
  }
  std::string& out_;
};

struct Meaning {
  char tag = 0;  // 0: the operation changes nothing
  bool has_family = false;
  bool has_key = true;
  bool has_value = false;
};

Result<Meaning> MeaningOf(char tag) {
  switch (static_cast<unsigned char>(tag)) {
    case kRocksPut: return Meaning{.tag = kPutTag, .has_value = true};
    case kRocksFamilyPut: return Meaning{.tag = kPutTag, .has_family = true, .has_value = true};
    case kRocksDelete: return Meaning{.tag = kDeleteTag};
    case kRocksFamilyDelete: return Meaning{.tag = kDeleteTag, .has_family = true};
    case kRocksSingleDelete: return Meaning{.tag = kSingleDeleteTag};
    case kRocksFamilySingleDelete: return Meaning{.tag = kSingleDeleteTag, .has_family = true};
    case kRocksDeleteRange: return Meaning{.tag = kDeleteRangeTag, .has_value = true};
    case kRocksFamilyDeleteRange: return Meaning{.tag = kDeleteRangeTag, .has_family = true, .has_value = true};
    case kRocksLogData: return Meaning{};
    case kRocksNoop: return Meaning{.has_key = false};
    case kRocksMerge:
    case kRocksFamilyMerge: return Status::NotSupported("Merge is not in this version");
    default:
      return Status::NotSupported("the operation " + std::to_string(static_cast<unsigned char>(tag)) +
                                  " of a write batch is not in this version");
  }
}

}  // namespace

std::string EncodeBatch(const WriteBatch& batch) {
  std::string out(kHeaderSize, '\0');
  EncodeFixed<std::uint32_t>(out.data() + kCountOffset, batch.status().ok() ? batch.Count() : kRefusedCount);
  Encoder encoder(&out);
  static_cast<void>(batch.Iterate(&encoder));  // the handler has no errors, and the batch is well-formed
  return out;
}

Status DecodeBatch(Slice data, WriteBatch* batch) {
  if (data.size() < kHeaderSize) return Status::Corruption("write batch is cut off");
  const auto count = DecodeFixed<std::uint32_t>(data.data() + kCountOffset);
  data.remove_prefix(kHeaderSize);
  std::string own(kCountSize, '\0');
  std::uint32_t seen = 0;
  while (!data.empty()) {
    CAMBIUM_TRY(const Meaning meaning, MeaningOf(data[0]));
    data.remove_prefix(1);
    std::uint32_t family = 0;
    Slice key;
    Slice value;
    if ((meaning.has_family && !GetVarint32(&data, &family)) || (meaning.has_key && !GetLengthPrefixed(&data, &key)) ||
        (meaning.has_value && !GetLengthPrefixed(&data, &value))) {
      return Status::Corruption("write batch is malformed after operation " + std::to_string(seen));
    }
    if (meaning.tag == 0) continue;
    ++seen;
    own += static_cast<char>(family == 0 ? meaning.tag : meaning.tag | kFamilyBit);
    if (family != 0) PutVarint64(&own, family);
    PutLengthPrefixed(&own, key);
    if (meaning.has_value) PutLengthPrefixed(&own, value);
  }
  if (seen != count) {
    return Status::Corruption("write batch says " + std::to_string(count) + " operations and holds " +
                              std::to_string(seen));
  }
  EncodeFixed<std::uint32_t>(own.data(), count);
  return WriteBatch::FromData(own, batch);
}

}  // namespace cambium::rocks
