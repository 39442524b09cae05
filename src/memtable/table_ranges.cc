#include "memtable/table_ranges.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <new>
#include <string>
#include <vector>

#include "memtable/jump_chain.h"
#include "util/coding.h"

namespace cambium {

// Keys are in the arena: 4 bytes of length, then the key.
struct TableRanges::Fragment {
  const char* begin_bytes;
  const char* end_bytes;
  SequenceNumber seq;

  static Slice KeyAt(const char* bytes) { return {bytes + kKeyOverhead, DecodeFixed<std::uint32_t>(bytes)}; }
  [[nodiscard]] Slice begin() const { return KeyAt(begin_bytes); }
  [[nodiscard]] Slice end() const { return KeyAt(end_bytes); }
};

struct TableRanges::Array {
  const Fragment* fragments;
  std::uint32_t count;
  std::uint32_t ranges;  // how many went into it: a power of two

  // The most fragments of an array of `ranges` ranges: each range cuts the key space twice.
  static constexpr std::size_t FragmentsMax(std::size_t ranges) { return 2 * ranges - 1; }
};

struct TableRanges::Version {
  SequenceNumber seq;    // of the range that made this version
  std::uint64_t count;   // how many ranges this version includes
  const Version* older;  // the version with one range less
  const Version* jump;   // a version with far fewer ranges
  std::uint32_t array_count;

  // Newest first, and therefore from the lightest to the heaviest.
  [[nodiscard]] const Array* arrays() const { return reinterpret_cast<const Array*>(this + 1); }
  [[nodiscard]] Array* arrays() { return reinterpret_cast<Array*>(this + 1); }
  static constexpr std::size_t SizeOf(std::size_t arrays) { return sizeof(Version) + arrays * sizeof(Array); }
};

namespace {

constexpr std::size_t Lines(std::size_t bytes) { return AlignUp(bytes, Arena::kCacheLine); }

}  // namespace

// Joins arrays, given newest first, into one: where several cover a key, the newest one wins.
class TableRanges::Joiner {
 public:
  Joiner(const TableRanges* owner, const Array* arrays, std::size_t count)
      : owner_(*owner), arrays_(arrays), n_(count) {}

  // Calls emit(Fragment) in key order.
  template <typename Emit>
  void Run(Emit emit) const {
    // For each array its current fragment: the first that ends after `at`. There are at most 64 arrays.
    std::uint32_t place[64] = {};
    const char* at = nullptr;  // null: before all keys
    for (;;) {
      // `shown`: the newest fragment that covers `at`. `stop`: the next key at which this may change.
      const Fragment* shown = nullptr;
      const char* stop = nullptr;
      for (std::size_t i = 0; i < n_; ++i) {
        const Array& array = arrays_[i];
        while (at != nullptr && place[i] < array.count && Order(array.fragments[place[i]].end_bytes, at) <= 0) ++place[i];
        if (place[i] == array.count) continue;
        const Fragment& fragment = array.fragments[place[i]];
        if (at != nullptr && Order(fragment.begin_bytes, at) <= 0) {
          if (shown == nullptr) {
            shown = &fragment;
            if (stop == nullptr || Order(fragment.end_bytes, stop) < 0) stop = fragment.end_bytes;
          }
          continue;
        }
        // The fragment begins after `at`. A fragment of an older array, or an uncovered interval, ends there.
        if (shown == nullptr && (stop == nullptr || Order(fragment.begin_bytes, stop) < 0)) stop = fragment.begin_bytes;
      }
      if (stop == nullptr) return;
      if (shown != nullptr) emit(Fragment{at, stop, shown->seq});
      at = stop;
    }
  }

 private:
  [[nodiscard]] int Order(const char* a, const char* b) const {
    return owner_.Compare(Fragment::KeyAt(a), Fragment::KeyAt(b));
  }
  const TableRanges& owner_;
  const Array* const arrays_;
  const std::size_t n_;
};

TableRanges::TableRanges(const Comparator* comparator)
    : comparator_(comparator), bytewise_(comparator == BytewiseComparator()) {}

std::size_t TableRanges::BytesMax(std::size_t additions) const {
  const Version* version = newest();
  const std::uint64_t count = version == nullptr ? 0 : version->count;
  std::size_t bytes = 0;
  for (std::uint64_t n = count + 1; n <= count + additions; ++n) {
    const std::size_t joined = std::size_t{1} << std::countr_zero(n);
    bytes += Lines(Array::FragmentsMax(joined) * sizeof(Fragment)) +
             Lines(Version::SizeOf(static_cast<std::size_t>(std::popcount(n))));
  }
  return bytes;
}

void TableRanges::Add(SequenceNumber seq, Slice begin, Slice end, Arena* arena) {
  assert(Compare(begin, end) < 0);
  const auto copy = [arena](Slice key) {
    char* bytes = arena->TakeBytes(kKeyOverhead + key.size());
    EncodeFixed<std::uint32_t>(bytes, static_cast<std::uint32_t>(key.size()));
    if (!key.empty()) std::memcpy(bytes + kKeyOverhead, key.data(), key.size());
    return static_cast<const char*>(bytes);
  };
  const Version* older = newest_.load(std::memory_order_relaxed);
  assert(older == nullptr || seq > older->seq);
  const std::uint64_t count = (older == nullptr ? 0 : older->count) + 1;
  const Fragment range{copy(begin), copy(end), seq};

  // Joins the lightest arrays, as a binary counter carries: while their weights are 1, 2, 4, ...
  Array joined[64];
  joined[0] = {&range, 1, 1};
  std::size_t joined_count = 1;
  std::uint32_t weight = 1;
  std::size_t kept = 0;  // the first array that is not joined
  const std::size_t older_count = older == nullptr ? 0 : older->array_count;
  for (; kept < older_count && older->arrays()[kept].ranges == weight; ++kept, weight *= 2) {
    joined[joined_count++] = older->arrays()[kept];
  }
  const Joiner joiner(this, joined, joined_count);
  std::uint32_t fragments = 0;
  joiner.Run([&fragments](const Fragment&) { ++fragments; });
  assert(fragments <= Array::FragmentsMax(weight));
  auto* array = static_cast<Fragment*>(arena->TakeLines(Lines(fragments * sizeof(Fragment))));
  std::uint32_t written = 0;
  joiner.Run([&](const Fragment& fragment) { new (&array[written++]) Fragment(fragment); });

  const std::size_t array_count = 1 + older_count - kept;
  auto* version = new (arena->TakeLines(Lines(Version::SizeOf(array_count))))
      Version{seq, count, older, JumpAfter(older), static_cast<std::uint32_t>(array_count)};
  new (&version->arrays()[0]) Array{array, fragments, weight};
  for (std::size_t i = 1; i < array_count; ++i) new (&version->arrays()[i]) Array(older->arrays()[kept + i - 1]);
  newest_.store(version, std::memory_order_release);
}

const TableRanges::Version* TableRanges::JumpAfter(const Version* newest) {
  return JumpOfNext(newest, [](const Version* v) { return v->count; }, [](const Version* v) { return v->jump; });
}

const TableRanges::Version* TableRanges::VisibleAt(const Version* version, SequenceNumber read_seq) {
  while (version != nullptr && version->seq > read_seq) {
    const bool jump = version->jump != nullptr && version->jump->seq > read_seq;
    version = jump ? version->jump : version->older;
  }
  return version;
}

std::uint64_t TableRanges::CountOf(const Version* version) { return version == nullptr ? 0 : version->count; }

std::uint32_t TableRanges::BegunBy(const Array& array, Slice key) const {
  std::uint32_t low = 0;
  std::uint32_t high = array.count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (Compare(array.fragments[middle].begin(), key) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

SequenceNumber TableRanges::NewestCovering(const Version& version, Slice key) const {
  for (std::uint32_t i = 0; i < version.array_count; ++i) {
    const Array& array = version.arrays()[i];
    const std::uint32_t begun = BegunBy(array, key);
    if (begun > 0 && Compare(key, array.fragments[begun - 1].end()) < 0) return array.fragments[begun - 1].seq;
  }
  return 0;
}

TableRanges::Stretch TableRanges::StretchOf(const Version& version, Slice key) const {
  Stretch stretch;
  const auto not_before = [&](Slice from) {
    if (stretch.has_from && Compare(stretch.from, from) >= 0) return;
    stretch.has_from = true;
    stretch.from = from;
  };
  const auto not_beyond = [&](Slice to) {
    if (stretch.has_to && Compare(stretch.to, to) <= 0) return;
    stretch.has_to = true;
    stretch.to = to;
  };
  for (std::uint32_t i = 0; i < version.array_count; ++i) {
    const Array& array = version.arrays()[i];
    const std::uint32_t begun = BegunBy(array, key);
    if (begun < array.count) not_beyond(array.fragments[begun].begin());
    if (begun == 0) continue;
    const Fragment& last = array.fragments[begun - 1];
    if (Compare(key, last.end()) >= 0) {
      not_before(last.end());
      continue;
    }
    not_before(last.begin());
    not_beyond(last.end());
    stretch.seq = last.seq;
    break;  // within this fragment, older arrays are hidden
  }
  return stretch;
}

RangeDeletes TableRanges::UnionOf(const Version& version) const {
  std::vector<RangeDeletes::Range> ranges;
  for (std::uint32_t i = 0; i < version.array_count; ++i) {
    const Array& array = version.arrays()[i];
    for (std::uint32_t f = 0; f < array.count; ++f) {
      ranges.push_back({array.fragments[f].begin(), array.fragments[f].end()});
    }
  }
  return RangeDeletes(comparator_, ranges);
}

Status TableRanges::CheckInvariants() const {
  for (const Version* version = newest(); version != nullptr; version = version->older) {
    const std::uint64_t beyond = version->older == nullptr ? 0 : version->older->count;
    if (version->count != beyond + 1) return Status::Corruption("memtable: versions of ranges miscounted");
    if (version->older != nullptr && version->older->seq >= version->seq) {
      return Status::Corruption("memtable: versions of ranges out of order");
    }
    std::uint64_t ranges = 0;
    for (std::uint32_t i = 0; i < version->array_count; ++i) {
      const Array& array = version->arrays()[i];
      ranges += array.ranges;
      if (i > 0 && array.ranges <= version->arrays()[i - 1].ranges) {
        return Status::Corruption("memtable: arrays of ranges out of order");
      }
      for (std::uint32_t f = 0; f < array.count; ++f) {
        const Fragment& fragment = array.fragments[f];
        if (Compare(fragment.begin(), fragment.end()) >= 0 ||
            (f > 0 && Compare(array.fragments[f - 1].end(), fragment.begin()) > 0) || fragment.seq > version->seq) {
          return Status::Corruption("memtable: fragments of ranges out of order");
        }
      }
    }
    if (ranges != version->count) return Status::Corruption("memtable: arrays of ranges miscounted");
  }
  return {};
}

}  // namespace cambium
