#include "manifest/state_check.h"

#include <algorithm>
#include <bit>
#include <set>

#include "cambium/comparator.h"
#include "manifest/file_names.h"
#include "util/result.h"
#include "vlog/value_address.h"

namespace cambium {
namespace {

constexpr std::uint64_t kPageSizeLeast = 512;
constexpr std::uint64_t kPageSizeMost = 16 * 1024;
constexpr std::size_t kComparatorNameMax = 255;
// Above the references or bytes of any file, and low enough that the sum over all families cannot overflow.
constexpr std::int64_t kAccountMax = std::int64_t{1} << 46;
static_assert(kAccountMax <= INT64_MAX / static_cast<std::int64_t>(kMaxFamilies));

Status Wrong(const std::string& what) { return Status::Corruption("manifest state: " + what); }

std::string OfFamily(const FamilyState& family, const std::string& what) {
  return "family " + std::to_string(family.id) + ": " + what;
}

bool IsPageSize(std::uint64_t size) {
  return size >= kPageSizeLeast && size <= kPageSizeMost && std::has_single_bit(size);
}

// True if the page `root` lies in the first `length` bytes of the file `number`.
bool RootLiesIn(const TreeRoot& root, std::uint64_t number, std::uint64_t length, std::uint64_t page_size) {
  return FileNumberOf(root.page.id) == number &&
         FitsBelow(UnitOffsetOf(root.page.id) * page_size, UnitsOf(root.page.id) * page_size, length);
}

bool IsEmpty(const TreeRoot& root) { return root.page.id == PageId::kNone; }

Status CheckSweep(const FamilyState& family) {
  const std::vector<std::uint64_t>& swept = family.sweep->runs;
  if (swept.empty() || swept.size() > family.runs.size() ||
      !std::equal(swept.begin(), swept.end(), family.runs.end() - static_cast<std::ptrdiff_t>(swept.size()),
                  [](std::uint64_t number, const RunInfo& run) { return number == run.number; })) {
    return Wrong(OfFamily(family, "the swept runs are not the oldest of its stack"));
  }
  return Status::OK();
}

Status CheckTree(const FamilyState& family) {
  const TreeRoot& root = family.root;
  if (IsEmpty(root)) {
    return root == TreeRoot{} ? Status::OK() : Wrong(OfFamily(family, "the tree has entries but no root"));
  }
  const auto segment = family.index_segments.find(FileNumberOf(root.page.id));
  if (root.height == 0 || segment == family.index_segments.end() ||
      !RootLiesIn(root, segment->first, segment->second.length, family.page_size)) {
    return Wrong(OfFamily(family, "the root is not in an index segment of the family"));
  }
  return Status::OK();
}

Status CheckKind(const FamilyState& family) {
  if (family.index_type == IndexType::kBTree && !family.level_runs.empty()) {
    return Wrong(OfFamily(family, "a B+-tree has levels"));
  }
  if (family.index_type == IndexType::kLsm &&
      (!IsEmpty(family.root) || family.sweep.has_value() || !family.index_segments.empty())) {
    return Wrong(OfFamily(family, "an LSM has a tree"));
  }
  return Status::OK();
}

// Checks only the built-in orders; with a user's comparator, opening the files checks this.
Status CheckTiers(const FamilyState& family) {
  const Comparator* comparator = BuiltInComparator(family.comparator);
  if (comparator == nullptr) return Status::OK();
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<const RunInfo*>> tiers;
  for (const auto& [number, run] : family.level_runs) tiers[{run.level, run.tier}].push_back(&run.info);
  for (auto& [place, runs] : tiers) {
    std::ranges::sort(runs, [comparator](const RunInfo* a, const RunInfo* b) {
      return comparator->Compare(a->smallest_key, b->smallest_key) < 0;
    });
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const int order = comparator->Compare(runs[i - 1]->largest_key, runs[i]->smallest_key);
      if (order > 0 || (order == 0 && !runs[i - 1]->largest_is_open)) {
        return Wrong(OfFamily(family, "runs " + std::to_string(runs[i - 1]->number) + " and " +
                                          std::to_string(runs[i]->number) + " of level " +
                                          std::to_string(place.first) + " overlap"));
      }
    }
  }
  return Status::OK();
}

}  // namespace

const Comparator* BuiltInComparator(const std::string& name) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    if (name == comparator->Name()) return comparator;
  }
  return nullptr;
}

namespace {

Status CheckCut(const SegmentInfo& segment, const std::string& name) {
  const std::string at = name + " is cut at " + std::to_string(segment.cut);
  if (!segment.has_footer) return Wrong(at + " and has no footer");
  if (segment.cut <= kFileHeaderSize || segment.cut >= segment.sealed_length || segment.cut % kRecordAlignment != 0) {
    return Wrong(at + ", where no record can begin");
  }
  if (!segment.punched.empty() && segment.punched.front() < segment.cut) {
    return Wrong(name + " has a punched record before its cut");
  }
  return Status::OK();
}

}  // namespace

Status CheckSegment(const SegmentInfo& segment) {
  const std::string name = "segment " + std::to_string(segment.number);
  if (segment.kind != SegmentKind::kLog && segment.kind != SegmentKind::kRelocation &&
      segment.kind != SegmentKind::kLargeValue) {
    return Wrong(name + " is of an unknown kind");
  }
  if ((segment.kind == SegmentKind::kRelocation) != (segment.generation > 0) || segment.generation > kGenerationMax) {
    return Wrong(name + " is of generation " + std::to_string(segment.generation));
  }
  if (static_cast<std::uint32_t>(segment.slot) >= kSlotCountMax) return Wrong(name + " has a slot out of range");
  if (segment.has_footer && !segment.sealed) return Wrong(name + " has a footer and is not sealed");
  if (segment.sealed && segment.sealed_length > segment.file_size) return Wrong(name + " is sealed beyond its end");
  if (segment.last_sequence > kMaxSequenceNumber) return Wrong(name + " has a sequence number out of range");
  if (!segment.MayHaveHoles()) return Status::OK();
  if (!segment.sealed || segment.kind == SegmentKind::kLargeValue) {
    return Wrong(name + " has holes, but is not sealed or is a large value");
  }
  if (segment.cut != 0) CAMBIUM_RETURN_IF_ERROR(CheckCut(segment, name));
  if (segment.punched.empty()) return Status::OK();
  if (std::ranges::adjacent_find(segment.punched, std::greater_equal()) != segment.punched.end() ||
      segment.punched.back() >= segment.sealed_length) {
    return Wrong(name + " has holes out of order, or beyond its end");
  }
  return Status::OK();
}

Status CheckFamilyWithoutFiles(const FamilyState& family) {
  if (family.index_type != IndexType::kBTree && family.index_type != IndexType::kLsm) {
    return Wrong(OfFamily(family, "index of an unknown type"));
  }
  if (!IsPageSize(family.page_size)) {
    return Wrong(OfFamily(family, "page size " + std::to_string(family.page_size)));
  }
  if (family.comparator.empty() || family.comparator.size() > kComparatorNameMax) {
    return Wrong(OfFamily(family, "comparator name of " + std::to_string(family.comparator.size()) + " bytes"));
  }
  if (family.flushed_sequence > kMaxSequenceNumber) {
    return Wrong(OfFamily(family, "flushed sequence number out of range"));
  }
  if (family.versions_since.has_value() && *family.versions_since > family.flushed_sequence) {
    return Wrong(OfFamily(family, "keeps versions since an operation that is not flushed"));
  }
  if (family.sweep.has_value()) CAMBIUM_RETURN_IF_ERROR(CheckSweep(family));
  CAMBIUM_RETURN_IF_ERROR(CheckTree(family));
  return CheckKind(family);
}

Status CheckRun(const FamilyState& family, const RunInfo& run) {
  const std::string name = "run " + std::to_string(run.number);
  if (run.kind != RunKind::kFlush && run.kind != RunKind::kCompaction && run.kind != RunKind::kRelocation) {
    return Wrong(OfFamily(family, name + " is of an unknown kind"));
  }
  if (run.largest_is_open && run.range_delete_count == 0) {
    return Wrong(OfFamily(family, name + " ends in a range delete but has none"));
  }
  if (IsEmpty(run.root) != (run.root.height == 0)) return Wrong(OfFamily(family, name + " has a root without height"));
  if (run.page_size != 0 && (!IsPageSize(run.page_size) || run.page_size >= family.page_size)) {
    return Wrong(OfFamily(family, name + " has a page size of " + std::to_string(run.page_size)));
  }
  if (!IsEmpty(run.root) && !RootLiesIn(run.root, run.number, run.file_size, family.PageSizeOf(run))) {
    return Wrong(OfFamily(family, name + " has its root outside its file"));
  }
  return Status::OK();
}

Status CheckLevelRun(const FamilyState& family, std::uint64_t number, const LevelRun& run) {
  if (number != run.info.number || run.level == 0 || run.level > kLevelMax) {
    return Wrong(OfFamily(family, "run " + std::to_string(number) + " lies in level " + std::to_string(run.level)));
  }
  return CheckRun(family, run.info);
}

Status CheckIndexSegment(const FamilyState& family, std::uint64_t number, const IndexSegmentInfo& segment) {
  if (number == segment.number && segment.live_units <= segment.length / family.page_size) return Status::OK();
  return Wrong(OfFamily(family, "index segment " + std::to_string(number) + " has more live pages than room"));
}

Status CheckFamily(const FamilyState& family) {
  CAMBIUM_RETURN_IF_ERROR(CheckFamilyWithoutFiles(family));
  for (const RunInfo& run : family.runs) CAMBIUM_RETURN_IF_ERROR(CheckRun(family, run));
  for (const auto& [number, run] : family.level_runs) CAMBIUM_RETURN_IF_ERROR(CheckLevelRun(family, number, run));
  for (const auto& [number, segment] : family.index_segments) {
    CAMBIUM_RETURN_IF_ERROR(CheckIndexSegment(family, number, segment));
  }
  return Status::OK();
}

Status CheckAccount(const FamilyState& family, Slot slot, const Account& account) {
  if (account.references > 0 && account.references <= kAccountMax && account.bytes > 0 && account.bytes <= kAccountMax) {
    return Status::OK();
  }
  return Wrong(OfFamily(family, "account of slot " + std::to_string(static_cast<std::uint32_t>(slot)) + " holds " +
                                    std::to_string(account.references) + " references and " +
                                    std::to_string(account.bytes) + " bytes"));
}

Status CheckReplay(const LogPosition& replay, std::uint64_t next_file_number, const SegmentInfo* segment) {
  if (replay.segment >= next_file_number) return Wrong("the replay position is in a segment that was never made");
  if (segment == nullptr) return Status::OK();  // it is flushed and dropped, or never existed: the log starts after it
  if (segment->kind != SegmentKind::kLog) return Wrong("the replay position is not in the log");
  if (segment->sealed && replay.offset > segment->sealed_length) {
    return Wrong("the replay position is beyond the end of segment " + std::to_string(replay.segment));
  }
  return Status::OK();
}

Status ManifestState::Check() const {
  if (next_file_number == 0 || next_file_number > kFileNumberMax) return Wrong("file numbers are out of range");
  if (last_sequence > kMaxSequenceNumber || durable_sequence > kMaxSequenceNumber ||
      replay_sequence > kMaxSequenceNumber) {
    return Wrong("sequence numbers are out of range");
  }
  if (families.size() > kMaxFamilies) return Wrong("too many families");

  std::set<std::uint64_t> numbers;
  const auto claim = [this, &numbers](std::uint64_t number) {
    if (number == 0 || number >= next_file_number) {
      return Wrong("file number " + std::to_string(number) + " is not drawn yet");
    }
    if (!numbers.insert(number).second) return Wrong("file number " + std::to_string(number) + " is used twice");
    return Status::OK();
  };
  std::set<Slot> slots;
  for (const auto& [number, segment] : segments) {
    if (number != segment.number) return Wrong("segment " + std::to_string(number) + " has another number");
    CAMBIUM_RETURN_IF_ERROR(claim(number));
    CAMBIUM_RETURN_IF_ERROR(CheckSegment(segment));
    if (segment.epoch > epoch) return Wrong("segment " + std::to_string(number) + " is of a later epoch");
    if (!slots.insert(segment.slot).second) return Wrong("segment " + std::to_string(number) + " shares its slot");
  }
  const auto segment = segments.find(replay.segment);
  CAMBIUM_RETURN_IF_ERROR(
      CheckReplay(replay, next_file_number, segment == segments.end() ? nullptr : &segment->second));

  std::set<std::string> names;
  std::set<Slot> referred;
  for (const auto& [id, family] : families) {
    if (id != family.id) return Wrong("family " + std::to_string(id) + " has another id");
    CAMBIUM_RETURN_IF_ERROR(CheckFamily(family));
    CAMBIUM_RETURN_IF_ERROR(CheckTiers(family));
    if (id >= next_family_id) return Wrong(OfFamily(family, "has an id not yet drawn"));
    if (!names.insert(family.name).second) return Wrong(OfFamily(family, "shares its name"));
    for (const RunInfo& run : family.runs) CAMBIUM_RETURN_IF_ERROR(claim(run.number));
    for (const auto& [run, info] : family.level_runs) CAMBIUM_RETURN_IF_ERROR(claim(run));
    for (const auto& [number, info] : family.index_segments) CAMBIUM_RETURN_IF_ERROR(claim(number));
    for (const auto& [slot, account] : family.accounts) {
      CAMBIUM_RETURN_IF_ERROR(CheckAccount(family, slot, account));
      referred.insert(slot);
      if (!slots.contains(slot) && !shadowed_slots.contains(slot)) {
        return Wrong(OfFamily(family, "an account has no segment"));
      }
    }
  }
  for (const Slot slot : shadowed_slots) {
    const std::string name = "shadowed slot " + std::to_string(static_cast<std::uint32_t>(slot));
    if (slots.contains(slot)) return Wrong(name + " has a segment");
    if (!referred.contains(slot)) return Wrong(name + " has no references");
  }
  return Status::OK();
}

}  // namespace cambium
