#include "gc/log_steps.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/file_header.h"
#include "vlog/segment_footer.h"

namespace cambium {
namespace {

void SortByKey(std::span<const GcFamily> families, std::vector<GcRecord>* records) {
  std::ranges::sort(*records, [&](const GcRecord& a, const GcRecord& b) {
    if (a.family != b.family) return a.family < b.family;
    return std::ranges::find(families, a.family, &GcFamily::id)->comparator->Compare(a.key, b.key) < 0;
  });
}

// `records` are ordered by source and place. If they fit into one step, this step also empties the group. Otherwise a
// last step without records empties it.
std::vector<LogStep> Cut(const std::shared_ptr<const LogGroup>& group, std::span<const GcRecord> records,
                         std::uint64_t step_bytes) {
  std::vector<LogStep> steps;
  for (std::size_t from = 0; from < records.size();) {
    std::uint64_t bytes = 0;
    std::size_t to = from;
    while (to < records.size() && (to == from || bytes + records[to].size <= step_bytes)) bytes += records[to++].size;
    assert(to > from && "each step takes a record");
    const std::span<const GcRecord> its = records.subspan(from, to - from);
    steps.push_back({group, {its.begin(), its.end()}, false});
    from = to;
  }
  if (steps.size() != 1) steps.push_back({group, {}, false});
  steps.back().empties = true;
  return steps;
}

}  // namespace

Result<std::vector<LogStep>> TakeLogSteps(std::span<const GcSource> sources, std::span<const GcFamily> families,
                                          std::uint64_t step_bytes, const FindLive& find, std::size_t* taken) {
  const auto group = std::make_shared<LogGroup>();
  std::vector<GcRecord> records;
  std::uint64_t bytes = 0;
  for (*taken = 0; *taken < std::min(sources.size(), kLogGroupMax); ++*taken) {
    const GcSource& source = sources[*taken];
    const bool is_of_group = group->sources.empty() ||
                             (bytes < step_bytes && group->sources.front().info.generation == source.info.generation);
    if (!is_of_group) break;
    const std::size_t before = records.size();
    const auto index = static_cast<std::uint32_t>(group->sources.size());
    CAMBIUM_TRY(const bool is_listed, find(source, index, &group->keys, &records));
    assert(records.size() >= before);
    if (!is_listed) continue;
    for (std::size_t i = before; i < records.size(); ++i) bytes += records[i].size;
    group->sources.push_back(source);
  }
  if (group->sources.empty()) return std::vector<LogStep>();
  std::ranges::sort(records, {}, [](const GcRecord& record) { return std::pair(record.source, record.offset); });
  std::vector<LogStep> steps = Cut(group, records, step_bytes);
  for (LogStep& step : steps) SortByKey(families, &step.records);
  return steps;
}

std::uint64_t RelocatedFileSize(std::span<const GcRecord> records) {
  if (records.empty()) return 0;
  SegmentFooterBuilder footer;
  std::uint64_t size = kFileHeaderSize;
  for (const GcRecord& record : records) {
    footer.AddRecord(RecordOp::kPut, record.family, record.key, record.size, true);
    size += record.size;
  }
  return size + footer.Finish(0, size).size();
}

}  // namespace cambium
