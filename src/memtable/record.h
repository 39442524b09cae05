// Record: one version of one key, encoded in the memtable's memory.
//
//   size  field           (no padding; any alignment)
//      8  word            sequence number << 8 | chained << 7 | place << 4 | kind of entry
//      v  key size        varint, one byte for most keys
//      -  key
//      8  older           only if chained: the record of the next older version of the key
//     20  milestone       only if place is 7: previous 8, jump 8, number 4
//      8  address         only for kValue and kLargeValue
//      v  size, then the inline value, only for kInline
//
// A 16-byte key with an address takes 33 bytes. Records never change once a reader can see them, and live as long as
// their memtable, so publishing one takes only a pointer.
//
// Milestones. `place` counts the versions of a key modulo 8, from 0 at the oldest. Each eighth version is a milestone:
// it also refers to the milestone before it, and to one that lies far back (see jump_chain.h), and has a number. So of
// n versions a reader finds any by O(log n) steps, and a version takes 2.5 bytes more on average. The newest version
// costs a reader nothing, and neither do keys with fewer than eight versions.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>

#include "cambium/slice.h"
#include "cambium/types.h"
#include "memtable/jump_chain.h"
#include "util/coding.h"
#include "util/mutant.h"
#include "vlog/entry.h"

namespace cambium {

class Record {
 public:
  static constexpr unsigned kMilestoneEvery = 8;
  static constexpr std::size_t kMilestoneSize = 8 + 8 + 4;
  // The most bytes that a record adds to key and inline value: word, two varints, pointer, milestone and address.
  static constexpr std::size_t kOverheadMax = 8 + kMaxVarint64Size + 8 + kMilestoneSize + kMaxVarint64Size;

  constexpr Record() = default;  // no record
  constexpr explicit Record(const char* bytes) : bytes_(bytes) {}

  [[nodiscard]] static std::size_t SizeOf(Slice key, const Entry& entry, Record older) {
    std::size_t size = 8 + VarintSize(key.size()) + key.size() + LinksSize(PlaceAfter(older), bool{older});
    if (entry.HasAddress()) size += 8;
    if (entry.kind == EntryKind::kInline) size += VarintSize(entry.inline_value.size()) + entry.inline_value.size();
    return size;
  }
  // `out` must have room for SizeOf() bytes.
  static Record Write(char* out, SequenceNumber seq, Slice key, const Entry& entry, Record older) {
    assert(seq <= kMaxSequenceNumber && (!older || older.seq() < seq));
    char* p = out;
    const unsigned place = PlaceAfter(older);
    EncodeFixed<std::uint64_t>(p, seq << 8 | (older ? kChained : 0) | std::uint64_t{place} << kPlaceShift |
                                      static_cast<std::uint64_t>(entry.kind));
    p = PutBytes(p + 8, key);
    if (older) p = PutRecord(p, older);
    if (place == kMilestoneEvery - 1) {
      const Record previous = older.NewestMilestone();
      p = PutRecord(p, previous);
      p = PutRecord(p, JumpAfter(previous));
      EncodeFixed<std::uint32_t>(p, previous ? previous.number() + 1 : 1);
      p += 4;
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
  [[nodiscard]] Record older() const { return (word() & kChained) != 0 ? RecordAt(key().end()) : Record(); }
  // Returns the newest version with a sequence number <= read_seq, this one or an older one; or no record.
  [[nodiscard]] Record VisibleAt(SequenceNumber read_seq) const {
    Record version = *this;
    while (version && version.seq() > read_seq) version = version.OlderTowards(read_seq);
    return version;
  }
  // One step of that search, from a record that is too new: to an older version, not beyond the result.
  [[nodiscard]] Record OlderTowards(SequenceNumber read_seq) const {
    if (is_milestone()) {
      const Record far = jump();
      if (far && (far.seq() > read_seq || MutantIs(Mutant::kVersionJumpPassesResult))) return far;
      const Record near = previous();
      if (near && near.seq() > read_seq) return near;
    }
    return older();
  }

  [[nodiscard]] unsigned place() const { return word() >> kPlaceShift & (kMilestoneEvery - 1); }
  [[nodiscard]] bool is_milestone() const { return place() == kMilestoneEvery - 1; }
  // These require is_milestone(): the next older milestone, one further back, and how many there are up to this one.
  [[nodiscard]] Record previous() const {
    assert(is_milestone());
    return RecordAt(key().end() + 8);
  }
  [[nodiscard]] Record jump() const {
    assert(is_milestone());
    return RecordAt(key().end() + 16);
  }
  [[nodiscard]] std::uint32_t number() const {
    assert(is_milestone());
    return DecodeFixed<std::uint32_t>(key().end() + 24);
  }
  // For tests: the links that depend on `older` are as Write sets them.
  [[nodiscard]] bool LinksAreRight() const {
    if (place() != PlaceAfter(older())) return false;
    if (!is_milestone()) return true;
    const Record before = older().NewestMilestone();
    return previous().bytes_ == before.bytes_ && jump().bytes_ == JumpAfter(before).bytes_ &&
           number() == (before ? before.number() + 1 : 1);
  }

  [[nodiscard]] Entry entry() const {
    const std::uint64_t word = this->word();
    const char* p = key().end() + LinksSize(place(), (word & kChained) != 0);
    const auto kind = static_cast<EntryKind>(word & 0xf);
    switch (kind) {
      case EntryKind::kValue:
      case EntryKind::kLargeValue:
        return {kind, ValueAddress(DecodeFixed<std::uint64_t>(p)), {}};
      case EntryKind::kInline:
        return Entry::Inline(GetBytes(p), word >> 8);
      default:
        return {kind, {}, {}};
    }
  }

 private:
  static constexpr std::uint64_t kChained = 0x80;
  static constexpr unsigned kPlaceShift = 4;
  static_assert(sizeof(const char*) == 8);

  [[nodiscard]] std::uint64_t word() const { return DecodeFixed<std::uint64_t>(bytes_); }

  // The place of a version whose next older one is `older`.
  [[nodiscard]] static unsigned PlaceAfter(Record older) { return older ? (older.place() + 1) % kMilestoneEvery : 0; }
  [[nodiscard]] static std::size_t LinksSize(unsigned place, bool is_chained) {
    return (is_chained ? 8 : 0) + (place == kMilestoneEvery - 1 ? kMilestoneSize : 0);
  }
  // The newest milestone among this version and older ones.
  [[nodiscard]] Record NewestMilestone() const {
    Record version = *this;
    while (version && !version.is_milestone()) version = version.older();
    return version;
  }
  [[nodiscard]] static Record JumpAfter(Record previous) {
    return JumpOfNext(
        previous, [](Record m) { return m.number(); }, [](Record m) { return m.jump(); });
  }
  static Record RecordAt(const char* p) {
    Record record;
    std::memcpy(&record.bytes_, p, 8);
    return record;
  }
  static char* PutRecord(char* p, Record record) {
    std::memcpy(p, &record.bytes_, 8);
    return p + 8;
  }

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
