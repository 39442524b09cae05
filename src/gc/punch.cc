#include "gc/punch.h"

#include <algorithm>
#include <cassert>
#include <set>

#include "io/file_header.h"
#include "util/coding.h"
#include "util/mutant.h"
#include "vlog/record_format.h"

namespace cambium {

Hole HoleOf(std::uint64_t record_offset, std::uint64_t record_size, std::size_t key_size) {
  const std::uint64_t begin = AlignUp(record_offset + kRecordHeaderSize + key_size, kPunchBlock);
  const std::uint64_t end = (record_offset + record_size) / kPunchBlock * kPunchBlock;
  return begin < end ? Hole{begin, end - begin} : Hole{};
}

Hole HoleOfCut(std::uint64_t cut) {
  const std::uint64_t begin = AlignUp(kFileHeaderSize, kPunchBlock);
  const std::uint64_t end = cut / kPunchBlock * kPunchBlock;
  return begin < end ? Hole{begin, end - begin} : Hole{};
}

PunchPlan PlanPunch(const GcSource& source, std::span<const GcRecord> listed, std::span<const GcRecord> live,
                    std::uint64_t least) {
  std::set<std::uint64_t> alive;
  for (const GcRecord& record : live) alive.insert(record.offset);
  PunchPlan plan;
  for (const GcRecord& record : listed) {
    if (record.size < least) continue;
    if (alive.contains(record.offset) && !MutantIs(Mutant::kPunchLiveValues)) continue;
    if (std::ranges::binary_search(source.info.punched, record.offset)) continue;
    const Hole hole = HoleOf(record.offset, record.size, record.key.size());
    if (hole.length == 0) continue;
    assert(hole.offset > record.offset && hole.length < record.size && "a hole spares header and key");
    plan.offsets.push_back(record.offset);
    plan.hole_bytes += hole.length;
    plan.kept_bytes += record.size - hole.length;
  }
  return plan;
}

}  // namespace cambium
