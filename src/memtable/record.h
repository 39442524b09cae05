// Record: one version of one key, encoded in the memtable's memory.
//
//   size  field           (no padding; any alignment)
//      8  word            sequence number << 8 | chained << 7 | kind of entry
//      v  key size        varint, one byte for most keys
//      -  key
//      8  older           only if chained: the record of the next older version of the key
//      8  address         only for kValue and kLargeValue
//      v  size, then the inline value, only for kInline
//
// A 16-byte key with an address takes 33 bytes. Records never change once a reader can see them, and live as long as
// their memtable, so publishing one takes only a pointer.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>

#include "cambium/slice.h"
#include "cambium/types.h"
#include "util/coding.h"
#include "vlog/entry.h"

namespace cambium {

class Record {
 public:
  // The most bytes that a record adds to key and inline value: word, two varints, pointer and address.
  static constexpr std::size_t kOverheadMax = 8 + kMaxVarint64Size + 8 + kMaxVarint64Size;

  constexpr Record() = default;  // no record
  constexpr explicit Record(const char* bytes) : bytes_(bytes) {}

  [[nodiscard]] static std::size_t SizeOf(Slice key, const Entry& entry, Record older) {
    std::size_t size = 8 + VarintSize(key.size()) + key.size() + (older ? 8 : 0);
    if (entry.HasAddress()) size += 8;
    if (entry.kind == EntryKind::kInline) size += VarintSize(entry.inline_value.size()) + entry.inline_value.size();
    return size;
  }
  // `out` must have room for SizeOf() bytes.
  static Record Write(char* out, SequenceNumber seq, Slice key, const Entry& entry, Record older) {
    assert(seq <= kMaxSequenceNumber);
    char* p = out;
    EncodeFixed<std::uint64_t>(p, seq << 8 | (older ? kChained : 0) | static_cast<std::uint64_t>(entry.kind));
    p = PutBytes(p + 8, key);
    if (older) {
      std::memcpy(p, &older.bytes_, 8);
      p += 8;
    }
    if (entry.HasAddress()) EncodeFixed<std::uint64_t>(p, entry.address.word());
    if (entry.kind == EntryKind::kInline) PutBytes(p, entry.inline_value);
    return Record(out);
  }

  explicit operator bool() const { return bytes_ != nullptr; }
  [[nodiscard]] const char* bytes() const { return bytes_; }

  [[nodiscard]] SequenceNumber seq() const { return word() >> 8; }
  [[nodiscard]] Slice key() const { return GetBytes(bytes_ + 8); }
  // Returns the next older version, or no record.
  [[nodiscard]] Record older() const {
    if ((word() & kChained) == 0) return {};
    const char* older;
    std::memcpy(&older, key().end(), 8);
    return Record(older);
  }
  // Returns the newest version with a sequence number <= read_seq, this one or an older one; or no record.
  [[nodiscard]] Record VisibleAt(SequenceNumber read_seq) const {
    Record version = *this;
    while (version && version.seq() > read_seq) version = version.older();
    return version;
  }
  [[nodiscard]] Entry entry() const {
    const std::uint64_t word = this->word();
    const char* p = key().end() + ((word & kChained) != 0 ? 8 : 0);
    const auto kind = static_cast<EntryKind>(word & 0xf);
    switch (kind) {
      case EntryKind::kValue:
      case EntryKind::kLargeValue: return {kind, ValueAddress(DecodeFixed<std::uint64_t>(p)), {}};
      case EntryKind::kInline: return Entry::Inline(GetBytes(p));
      default: return {kind, {}, {}};
    }
  }

 private:
  static constexpr std::uint64_t kChained = 0x80;
  static_assert(sizeof(const char*) == 8);

  [[nodiscard]] std::uint64_t word() const { return DecodeFixed<std::uint64_t>(bytes_); }

  static std::size_t VarintSize(std::size_t n) {
    std::size_t size = 1;
    for (; n >= 0x80; n >>= 7) ++size;
    return size;
  }
  static char* PutBytes(char* p, Slice bytes) {
    std::size_t n = bytes.size();
    for (; n >= 0x80; n >>= 7) *p++ = static_cast<char>(n | 0x80);
    *p++ = static_cast<char>(n);
    if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
    return p + bytes.size();
  }
  // The bytes were written by PutBytes, in memory, so they need no checks.
  static Slice GetBytes(const char* p) {
    std::size_t n = static_cast<unsigned char>(*p++);
    if (n >= 0x80) {
      n &= 0x7f;
      for (unsigned shift = 7;; shift += 7) {
        const auto byte = static_cast<unsigned char>(*p++);
        n |= static_cast<std::size_t>(byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
    }
    return {p, n};
  }

  const char* bytes_ = nullptr;
};

}  // namespace cambium
