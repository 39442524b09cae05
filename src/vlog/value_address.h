// ValueAddress: the place of a value, in 8 bytes. An index holds it for a separated value.
//
//   bits 63..60  kind    1 record in a log segment, 5 record in a file of its own; see EntryKind
//   bits 59..48  size    12-bit code of the stored record's size, so that a reader knows how much to read
//   bits 47..27  slot    of the segment: the MANIFEST maps slots to file numbers (2,097,152 slots)
//   bits 26..0   offset  of the record in its segment, in units of 8 bytes (up to 1 GiB)
//
// Size code, in units of 8 bytes for a log segment and of 4096 bytes for a file of its own:
//   code < 2048      code units, exact
//   code >= 2048     (128 + low 7 bits) << (4 + next 4 bits) units: at most 0.8 % above the true size, never below it
//
// Accounts add and subtract the size that the code gives, so adding and removing a reference cancel exactly. A segment
// is dropped by its count of references, not by its bytes.
#pragma once

#include <cassert>
#include <cstdint>

#include "util/mutant.h"

namespace cambium {

enum class Slot : std::uint32_t {};
inline constexpr unsigned kSlotBits = 21;
inline constexpr std::uint32_t kSlotCountMax = 1u << kSlotBits;

inline constexpr unsigned kOffsetBits = 27;
inline constexpr std::uint64_t kRecordAlignment = 8;
inline constexpr std::uint64_t kLogOffsetMax = (std::uint64_t{1} << kOffsetBits) * kRecordAlignment;  // 1 GiB
inline constexpr std::uint64_t kLargeValueUnit = 4096;

// The kind of an index entry. On disk in the top 4 bits of every entry word.
enum class EntryKind : std::uint8_t {
  kValue = 1,           // address of a record in a log segment
  kInline = 2,          // the value itself is with the entry
  kTombstone = 3,       // the key is deleted here and in older layers
  kMergeOperands = 4,   // reserved; rejected on read
  kLargeValue = 5,      // address of a file that holds one record
  kRangeTombstone = 6,  // reserved; rejected on read
};

// Returns the size code of `units`, rounded up. The largest code stands for more than any legal size.
[[nodiscard]] constexpr std::uint32_t SizeCodeOf(std::uint64_t units) {
  if (units < 2048) return static_cast<std::uint32_t>(units);
  unsigned shift = 4;
  while ((units + (std::uint64_t{1} << shift) - 1) >> shift > 255) ++shift;
  const std::uint64_t mantissa =
      MutantIs(Mutant::kSizeCodeRoundsDown) ? units >> shift : (units + (std::uint64_t{1} << shift) - 1) >> shift;
  assert(shift - 4 < 16);
  return static_cast<std::uint32_t>(2048 + ((shift - 4) << 7) + (mantissa - 128));
}
[[nodiscard]] constexpr std::uint64_t UnitsOfSizeCode(std::uint32_t code) {
  if (code < 2048) return code;
  return (128 + std::uint64_t{code & 127u}) << (4 + ((code >> 7) & 15u));
}

class ValueAddress {
 public:
  constexpr ValueAddress() = default;
  constexpr explicit ValueAddress(std::uint64_t word) : word_(word) {}

  // The address of a record in a log segment. `size` and `offset` are in bytes; `offset` is a multiple of 8 below
  // kLogOffsetMax.
  static constexpr ValueAddress InLog(Slot slot, std::uint64_t offset, std::uint64_t size) {
    assert(offset % kRecordAlignment == 0 && offset < kLogOffsetMax);
    return Make(EntryKind::kValue, SizeCodeOf((size + kRecordAlignment - 1) / kRecordAlignment), slot,
                offset / kRecordAlignment);
  }
  // The address of a value in a file of its own, of `size` bytes.
  static constexpr ValueAddress OwnFile(Slot slot, std::uint64_t size) {
    return Make(EntryKind::kLargeValue, SizeCodeOf((size + kLargeValueUnit - 1) / kLargeValueUnit), slot, 0);
  }

  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }
  [[nodiscard]] constexpr EntryKind kind() const { return static_cast<EntryKind>(word_ >> 60); }
  [[nodiscard]] constexpr Slot slot() const {
    return static_cast<Slot>((word_ >> kOffsetBits) & (kSlotCountMax - 1));
  }
  [[nodiscard]] constexpr std::uint64_t offset() const {
    return (word_ & ((std::uint64_t{1} << kOffsetBits) - 1)) * kRecordAlignment;
  }
  // The number of bytes to read, and to count in the segment's account: at least the stored record's size.
  [[nodiscard]] constexpr std::uint64_t size() const {
    const std::uint64_t units = UnitsOfSizeCode(static_cast<std::uint32_t>((word_ >> 48) & 0xfff));
    return units * (kind() == EntryKind::kLargeValue ? kLargeValueUnit : kRecordAlignment);
  }

  friend constexpr bool operator==(ValueAddress, ValueAddress) = default;

 private:
  static constexpr ValueAddress Make(EntryKind kind, std::uint32_t code, Slot slot, std::uint64_t units) {
    assert(static_cast<std::uint32_t>(slot) < kSlotCountMax);
    return ValueAddress(static_cast<std::uint64_t>(kind) << 60 | std::uint64_t{code & 0xfffu} << 48 |
                        std::uint64_t{static_cast<std::uint32_t>(slot)} << kOffsetBits | units);
  }
  std::uint64_t word_ = 0;
};
static_assert(sizeof(ValueAddress) == 8, "stored in every leaf");

}  // namespace cambium
