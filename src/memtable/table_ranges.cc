#include "memtable/table_ranges.h"

#include <cassert>
#include <new>
#include <vector>

#include "memtable/jump_chain.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium {

struct TableRanges::Version {
  SequenceNumber seq;    // of the range that made this version
  std::uint64_t count;   // how many ranges this version includes
  const Version* older;  // the version with one range less
  const Version* jump;   // a version with far fewer ranges
  StretchMap map;        // the newest sequence number that covers each key; 0: none
};

// The keys that the ranges of a version cover. Their sequence numbers do not matter.
class TableRanges::Cover final : public RangeCover {
 public:
  Cover(const TableRanges* owner, const Version* version) : owner_(*owner), version_(*version) {}
  [[nodiscard]] bool empty() const override { return false; }
  [[nodiscard]] KeyStretch StretchOf(Slice key) const override {
    const Stretch its = version_.map.CoverOf(owner_.order_, key);
    KeyStretch stretch{its.number != 0, {}, {}};
    if (its.has_from) stretch.from = its.from;
    if (its.has_to) stretch.to = its.to;
    return stretch;
  }

 private:
  const TableRanges& owner_;
  const Version& version_;
};

std::size_t TableRanges::BytesMax(std::size_t additions) const {
  const Version* version = newest();
  const StretchMap map = version == nullptr ? StretchMap() : version->map;
  return map.BytesMax(additions) + additions * Arena::LinesOf(sizeof(Version));
}

void TableRanges::Add(SequenceNumber seq, Slice begin, Slice end, Arena* arena) {
  const Version* older = newest_.load(std::memory_order_relaxed);
  assert(older == nullptr || seq >= older->seq);
  const StretchMap map = (older == nullptr ? StretchMap() : older->map).With(order_, begin, end, seq, arena);
  const std::uint64_t count = CountOf(older) + 1;
  const auto* version =
      new (arena->TakeLines(Arena::LinesOf(sizeof(Version)))) Version{seq, count, older, JumpAfter(older), map};
  newest_.store(version, std::memory_order_release);
}

const TableRanges::Version* TableRanges::JumpAfter(const Version* newest) {
  return JumpOfNext(
      newest, [](const Version* v) { return v->count; }, [](const Version* v) { return v->jump; });
}

const TableRanges::Version* TableRanges::VisibleAt(const Version* version, SequenceNumber read_seq) {
  while (version != nullptr && version->seq > read_seq) {
    const bool jump = version->jump != nullptr && version->jump->seq > read_seq;
    version = jump ? version->jump : version->older;
  }
  return version;
}

std::uint64_t TableRanges::CountOf(const Version* version) { return version == nullptr ? 0 : version->count; }

SequenceNumber TableRanges::NewestCovering(const Version& version, Slice key) const {
  return version.map.NumberOf(order_, key);
}

TableRanges::Stretch TableRanges::StretchOf(const Version& version, Slice key) const {
  return version.map.StretchOf(order_, key);
}

std::shared_ptr<const RangeCover> TableRanges::CoverOf(const Version& version) const {
  return std::make_shared<const Cover>(this, &version);
}

// The map has the newest number that covers a place. It is above after_seq if, and only if, a range newer than that
// covers the place.
RangeDeletes TableRanges::UnionOf(const Version& version, SequenceNumber after_seq) const {
  std::vector<Slice> bounds;
  bool is_covered = false;
  version.map.ForEach([&](Slice key, SequenceNumber seq) {
    if ((seq > after_seq) != is_covered) bounds.push_back(key);
    is_covered = seq > after_seq;
  });
  return RangeDeletes::OfBounds(order_.comparator(), bounds);
}

Status TableRanges::CheckInvariants() const {
  for (const Version* version = newest(); version != nullptr; version = version->older) {
    if (version->count != CountOf(version->older) + 1)
      return Status::Corruption("memtable: versions of ranges miscounted");
    if (version->older != nullptr && version->older->seq > version->seq) {
      return Status::Corruption("memtable: versions of ranges out of order");
    }
    CAMBIUM_RETURN_IF_ERROR(version->map.CheckInvariants(order_));
  }
  return {};
}

}  // namespace cambium
