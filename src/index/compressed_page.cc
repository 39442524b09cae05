#include "index/compressed_page.h"

#include <cassert>
#include <cstring>

#include "util/coding.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kCodecOffset = 19;
constexpr std::size_t kRawSizeOffset = 48;
constexpr std::size_t kPackedSizeOffset = 52;
static_assert(kRawSizeOffset == kPageHeaderSize && kPackedSizeOffset + 4 == kCompressedHeaderSize);

}  // namespace

bool CompressLeaf(Codec codec, Slice leaf, std::uint32_t page_size, std::string* stored, std::size_t* packed_end) {
  assert(leaf.size() >= kPageSizeMin && leaf.size() % kRawSizeStep == 0);
  assert(leaf[kPageTypeOffset] == static_cast<char>(PageType::kLeaf));
  stored->assign(leaf.data(), kPageHeaderSize);
  stored->resize(kCompressedHeaderSize);
  if (!Compress(codec, leaf.substr(kPageHeaderSize, leaf.size() - kPageHeaderSize), stored)) return false;
  *packed_end = stored->size();
  const std::size_t size = AlignUp(stored->size(), page_size);
  if (size >= AlignUp(leaf.size(), page_size)) return false;

  (*stored)[kPageTypeOffset] = static_cast<char>(PageType::kCompressedLeaf);
  (*stored)[kCodecOffset] = static_cast<char>(codec);
  EncodeFixed<std::uint32_t>(stored->data() + kRawSizeOffset, static_cast<std::uint32_t>(leaf.size()));
  EncodeFixed<std::uint32_t>(stored->data() + kPackedSizeOffset,
                             static_cast<std::uint32_t>(*packed_end - kCompressedHeaderSize));
  stored->resize(size);
  return true;
}

bool CompressedPage::Is(Slice stored) {
  return stored[kPageTypeOffset] == static_cast<char>(PageType::kCompressedLeaf);
}

Result<CompressedPage> CompressedPage::Parse(Slice stored, std::uint32_t page_size, const std::string& path,
                                             std::uint64_t offset) {
  assert(Is(stored) && stored.size() >= kPageSizeMin);
  const auto corrupt = [&](const std::string& what) {
    return Status::Corruption(what).WithContext(PagePlaceName(path, offset));
  };
  const char* in = stored.data();
  CompressedPage page;
  page.header_ = in;
  page.codec_ = static_cast<Codec>(in[kCodecOffset]);
  page.raw_size_ = DecodeFixed<std::uint32_t>(in + kRawSizeOffset);
  const std::size_t packed_size = DecodeFixed<std::uint32_t>(in + kPackedSizeOffset);
  if (in[kPageLevelOffset] != 0) return corrupt("compressed, but not a leaf");
  if (page.codec_ == Codec::kNone) return corrupt("compressed without a codec");
  if (page.codec_ != Codec::kLz4 && page.codec_ != Codec::kZstd) {
    return Status::NotSupported("compressed by codec " +
                                std::to_string(static_cast<unsigned char>(in[kCodecOffset])) +
                                ", which is of a later version")
        .WithContext(PagePlaceName(path, offset));
  }
  if (packed_size > stored.size() - kCompressedHeaderSize) return corrupt("compressed bytes run out of the page");
  const std::size_t raw_size_max = std::size_t{kPageUnitsMax} * page_size;
  const bool is_too_long = page.raw_size_ > raw_size_max && !MutantIs(Mutant::kTrustRawSize);
  if (page.raw_size_ <= stored.size() || is_too_long || page.raw_size_ % kRawSizeStep != 0) {
    return corrupt("compressed page claims to have " + std::to_string(page.raw_size_) + " bytes");
  }
  page.packed_ = stored.substr(kCompressedHeaderSize, packed_size);
  return page;
}

Status CompressedPage::Expand(char* out, const std::string& path, std::uint64_t offset) const {
  std::memcpy(out, header_, kPageHeaderSize);
  out[kPageTypeOffset] = static_cast<char>(PageType::kLeaf);
  out[kCodecOffset] = 0;
  const Status status = Decompress(codec_, packed_, out + kPageHeaderSize, raw_size_ - kPageHeaderSize);
  if (status.IsCorruption()) {
    return Status::Corruption("does not expand to " + std::to_string(raw_size_) + " bytes")
        .WithContext(PagePlaceName(path, offset));
  }
  return status.ok() ? status : status.WithContext(PagePlaceName(path, offset));
}

}  // namespace cambium
