#include "compact_log/log_compaction.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "gc/clustering.h"
#include "gc/record_reads.h"
#include "gc/victims.h"
#include "io/file_header.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Bytes of values in all steps that run at a time. A step also has at most blob_file_size bytes.
constexpr std::uint64_t kBytesUnderWay = 192u << 20;
// Memory for kept lookups.
constexpr std::uint64_t kFoundBytesMax = 64u << 20;

// Header and key of a punched value remain on disk, and so do the ends of the value that are not whole blocks: parts of
// up to two blocks.
constexpr std::uint64_t kKeptPerHole = 2 * 4096;

std::uint64_t BytesOnDisk(const SegmentInfo& info, const FileInfo& file) {
  return info.MayHaveHoles() ? std::min(info.file_size, file.allocated_bytes) : info.file_size;
}

// Clustering needs room for a second copy of all values that it moves, until the old segments are removed.
Status CheckRoom(const OfflineAccess& db, const CompactLogFigures& forecast) {
  std::uint64_t free_bytes = 0;
  const Status asked = db.file_system().FreeSpace(db.path(), &free_bytes);
  if (!asked.ok() || free_bytes >= forecast.bytes_written) return Status::OK();
  return Status::NoSpace(db.path() + ": writing all values in key order needs " +
                         std::to_string(forecast.bytes_written) + " bytes, and " +
                         std::to_string(free_bytes) + " are free");
}

}  // namespace

LogCompaction::LogCompaction(OfflineAccess* db, const CompactLogOptions& how, std::uint64_t as_wanted_from,
                             CompactLogReport* report)
    : db_(*db),
      how_(how),
      as_wanted_from_(as_wanted_from),
      steps_at_a_time_(StepsAtATime(db->options())),
      step_bytes_(std::min<std::uint64_t>(kBytesUnderWay / static_cast<std::uint64_t>(steps_at_a_time_),
                                          db->blob_file_size())),
      report_(*report) {
  assert(steps_at_a_time_ > 0 && step_bytes_ > 0);
  db_.KeepCopyBuffers(static_cast<std::size_t>(steps_at_a_time_), step_bytes_ + step_bytes_ / 8);
}

LogCompaction::~LogCompaction() { db_.KeepCopyBuffers(0, 0); }

int LogCompaction::StepsAtATime(const DBOptions& options) { return std::clamp(options.max_background_jobs, 4, 8); }

// On a nearly full disk, runs one small step at a time, segments with the fewest live bytes first: each step frees
// space for the next.
void LogCompaction::FitIntoFreeSpace() {
  constexpr std::uint64_t kStepBytesLeast = 64u << 10;
  std::uint64_t free_bytes = 0;
  if (!db_.file_system().FreeSpace(db_.path(), &free_bytes).ok()) return;
  is_tight_ = free_bytes < 2 * step_bytes_ * static_cast<std::uint64_t>(steps_at_a_time_);
  if (!is_tight_) return;
  steps_at_a_time_ = 1;
  step_bytes_ = std::clamp<std::uint64_t>(free_bytes / 4, std::min(step_bytes_, kStepBytesLeast), step_bytes_);
}

Result<bool> LogCompaction::FindLive(const OfflineAccess::LogNow& log, const GcSource& source, std::uint32_t index, Arena* keys,
                                     std::vector<GcRecord>* live) {
  std::unique_ptr<Found> now;
  const auto remembered = found_.find(source.info.number);
  if (remembered == found_.end()) {
    CAMBIUM_TRY(now, LookUp(log, source));
    if (!now->damage.empty()) NoteDamage(source.info.number, now->damage);
  }
  const Found& found = now != nullptr ? *now : *remembered->second;
  if (!found.damage.empty()) return false;
  for (GcRecord record : found.live) {
    if (!clustered_.empty() && IsClustered(record, log)) continue;
    CAMBIUM_TRY(record.key, CopyKey(record.key, keys));
    record.source = index;
    live->push_back(record);
  }
  return true;
}

// Chooses the values that Clusterer::Pick chooses: all values of a moved range up to kClusteredValueMax.
// Clusterer::Pick also skips damaged segments. That needs no check here, since no step reads a damaged segment.
bool LogCompaction::IsClustered(const GcRecord& record, const OfflineAccess::LogNow& log) const {
  const auto ranges = clustered_.find(record.family);
  if (ranges == clustered_.end() || ValueAddress::InLog(Slot{}, record.offset, record.size).size() > kClusteredValueMax) {
    return false;
  }
  const Comparator& order = *std::ranges::find(log.families, record.family, &GcFamily::id)->comparator;
  const auto next = std::ranges::upper_bound(
      ranges->second, record.key, [&](Slice a, Slice b) { return order.Compare(a, b) < 0; },
      [](const KeyRange& range) { return Slice(range.first); });
  return next != ranges->second.begin() && order.Compare(record.key, std::prev(next)->last) <= 0;
}

void LogCompaction::NoteDamage(std::uint64_t number, const std::string& damage) {
  if (damaged_.insert(number).second) report_.damaged.push_back(damage);
}

Result<std::unique_ptr<LogCompaction::Found>> LogCompaction::LookUp(const OfflineAccess::LogNow& log, const GcSource& source) {
  auto found = std::make_unique<Found>();
  Arena all_keys;
  std::vector<GcRecord> records;
  const Status listed = ListRecords(source, 0, &all_keys, &records);
  if (listed.IsCorruption()) {
    found->damage = listed.message();
    return found;
  }
  CAMBIUM_RETURN_IF_ERROR(listed);
  found->is_empty = records.empty();
  // A database open for reading has unflushed entries in memtables. They are newer than the layers.
  std::erase_if(records, [&](const GcRecord& record) {
    const FamilyView* const family = log.view->Find(record.family);
    Entry newest;
    if (family == nullptr || !View::FindInMemory(*family, record.key, kMaxSequenceNumber, &newest)) return false;
    const ValueAddress address = ValueAddress::InLog(source.info.slot, record.offset, record.size);
    if (newest.HasAddress() && newest.address == address) found->live.push_back(record);
    return true;
  });
  CAMBIUM_RETURN_IF_ERROR(KeepLive(log.families, {&source, 1}, &records));
  found->live.insert(found->live.end(), records.begin(), records.end());
  for (GcRecord& record : found->live) {
    CAMBIUM_TRY(record.key, CopyKey(record.key, &found->keys));
  }
  return found;
}

// Looks up several segments at a time: one waits for the device while another uses a processor.
Status LogCompaction::Look() {
  segments_.clear();
  found_.clear();
  found_bytes_ = 0;
  report_.live_bytes = 0;
  const std::vector<std::uint64_t> numbers = db_.SegmentsOfLog();
  const std::size_t together = is_tight_ ? 1 : 2 * static_cast<std::size_t>(steps_at_a_time_);
  for (std::size_t at = 0; at < numbers.size(); at += together) {
    const OfflineAccess::LogNow log =
        db_.PinLog(std::span(numbers).subspan(at, std::min(together, numbers.size() - at)));
    std::vector<std::unique_ptr<Found>> found(log.sources.size());
    Status begun;
    for (std::size_t i = 0; begun.ok() && i < found.size(); ++i) {
      begun = db_.StartTask(
          [&log, &found, i]() -> Status {
            CAMBIUM_TRY(found[i], LookUp(log, log.sources[i]));
            return Status::OK();
          },
          steps_at_a_time_);
    }
    CAMBIUM_RETURN_IF_ERROR(db_.AwaitTasks());
    CAMBIUM_RETURN_IF_ERROR(begun);
    for (std::size_t i = 0; i < found.size(); ++i) {
      assert(found[i] != nullptr && "all tasks have ended well");
      CAMBIUM_RETURN_IF_ERROR(LookAt(log.sources[i], std::move(found[i])));
    }
  }
  return Status::OK();
}

Status LogCompaction::LookAt(const GcSource& source, std::unique_ptr<Found> found) {
  const SegmentInfo& info = source.info;
  Segment segment;
  FileInfo file;
  CAMBIUM_RETURN_IF_ERROR(source.segment->file().GetInfo(&file));
  segment.bytes = BytesOnDisk(info, file);
  segment.is_shared = file.link_count > 1;
  if (found->is_empty) return Status::OK();
  for (const GcRecord& record : found->live) segment.live_bytes += record.size;
  const std::uint64_t kept = segment.live_bytes + kFileHeaderSize + (info.file_size - info.sealed_length) +
                             info.punched.size() * kKeptPerHole;
  segment.has_garbage = found->damage.empty() && segment.bytes > kept;
  if (!found->damage.empty()) NoteDamage(info.number, found->damage);
  report_.live_bytes += segment.live_bytes;
  segments_.emplace(info.number, segment);
  const std::uint64_t memory = found->keys.used_bytes() + found->live.capacity() * sizeof(GcRecord);
  if (found_bytes_ + memory > kFoundBytesMax) return Status::OK();
  found_bytes_ += memory;
  found_.emplace(info.number, std::move(found));
  return Status::OK();
}

std::vector<std::uint64_t> LogCompaction::Dead() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, segment] : segments_) {
    if (segment.live_bytes == 0 && !damaged_.contains(number)) numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::uint64_t> LogCompaction::Victims() const {
  std::set<std::uint64_t> numbers;
  std::vector<std::pair<double, std::uint64_t>> by_garbage;  // smallest live fraction first
  std::uint64_t log_bytes = clustered_bytes_;  // without damaged segments, which report_.live_bytes leaves out too
  for (const auto& [number, segment] : segments_) {
    if (segment.live_bytes == 0 || damaged_.contains(number)) continue;
    log_bytes += segment.bytes;
    const double alive = static_cast<double>(segment.live_bytes) / static_cast<double>(std::max<std::uint64_t>(segment.bytes, 1));
    if (segment.has_garbage) by_garbage.emplace_back(alive, number);
    if (ChangesForm() && number <= as_wanted_from_) numbers.insert(number);
  }
  std::ranges::sort(by_garbage);
  const double wanted = how_.target_space_amp * static_cast<double>(report_.live_bytes);
  for (const auto& [alive, number] : by_garbage) {
    if (how_.target_space_amp > 1 && static_cast<double>(log_bytes) <= wanted) break;
    const Segment& segment = segments_.at(number);
    log_bytes -= segment.bytes - segment.live_bytes;
    numbers.insert(number);
  }
  std::vector<std::uint64_t> victims(numbers.begin(), numbers.end());
  if (is_tight_) {
    std::ranges::stable_sort(victims, {}, [this](std::uint64_t number) {
      const Segment& segment = segments_.at(number);
      return std::pair(segment.is_shared, segment.live_bytes);  // shared files free no space: last
    });
  }
  return victims;
}

Status LogCompaction::ForEachGroup(const VisitGroup& visit) {
  CAMBIUM_RETURN_IF_ERROR(ForEachGroupOf(Dead(), visit));
  return ForEachGroupOf(Victims(), visit);
}

Status LogCompaction::ForEachGroupOf(std::span<const std::uint64_t> victims, const VisitGroup& visit) {
  for (std::size_t at = 0; at < victims.size();) {
    const std::size_t count = is_tight_ ? 1 : std::min(victims.size() - at, kLogGroupMax);
    // Only the steps of this group hold `log`, so that its files are removed after them.
    auto log = std::make_shared<OfflineAccess::LogNow>(db_.PinLog(victims.subspan(at, count)));
    EncodeAsWanted(log.get());
    const auto find = [&](const GcSource& source, std::uint32_t index, Arena* keys, std::vector<GcRecord>* live) {
      return FindLive(*log, source, index, keys, live);
    };
    std::size_t taken = 0;
    CAMBIUM_TRY(std::vector<LogStep> steps, TakeLogSteps(log->sources, log->families, step_bytes_, find, &taken));
    assert(taken <= log->sources.size());
    at += log->sources.empty() ? count : taken;
    if (!steps.empty()) CAMBIUM_RETURN_IF_ERROR(visit(log, std::move(steps)));
    if (!is_tight_) continue;
    log.reset();
    CAMBIUM_RETURN_IF_ERROR(db_.AwaitTasks());
    CAMBIUM_RETURN_IF_ERROR(db_.AwaitIdle());  // wait until the files are removed
  }
  return Status::OK();
}

void LogCompaction::EncodeAsWanted(OfflineAccess::LogNow* log) const {
  for (GcFamily& family : log->families) {
    const OptionsInForce& options = log->view->Find(family.id)->family->in_force();
    if (how_.recompress.has_value()) family.codec = options.codec;
    if (how_.min_blob_size.has_value()) family.separate_from = options.separate_from;
  }
}

void LogCompaction::CountFreed(std::uint64_t gone, std::uint64_t held, CompactLogFigures* figures) const {
  figures->bytes_held = held;
  figures->bytes_freed = gone - std::min(gone, figures->bytes_written);
}

std::uint64_t LogCompaction::leaves() const {
  const CompactLogFigures& figures = report_.forecast.figures;
  return figures.bytes_freed + figures.bytes_held;
}

Status LogCompaction::ForecastSteps() {
  CompactLogFigures& figures = report_.forecast.figures;
  figures.segments += removed_by_seal_.segments;
  std::uint64_t gone = removed_by_seal_.bytes_freed;
  std::uint64_t held = removed_by_seal_.bytes_held;
  CAMBIUM_RETURN_IF_ERROR(ForEachGroup([&](const auto&, const std::vector<LogStep>& steps) {
    for (const LogStep& step : steps) {
      figures.values += step.records.size();
      figures.bytes_read += PlanReads(step.records).bytes();
      figures.bytes_written += RelocatedFileSize(step.records);
    }
    figures.segments += steps.front().group->sources.size();
    for (const GcSource& source : steps.front().group->sources) {
      const Segment& segment = segments_.at(source.info.number);
      (segment.is_shared ? held : gone) += segment.bytes;
    }
    return Status::OK();
  }));
  CountFreed(gone, held, &figures);
  report_.forecast.is_exact = !ChangesForm() && !how_.cluster;
  return Status::OK();
}

// Forecasts first the clustering, then the steps that empty the segments which have garbage before or after it.
Status LogCompaction::ForecastClustering() {
  CompactLogFigures& figures = report_.forecast.figures;
  CAMBIUM_RETURN_IF_ERROR(db_.ClusterAll(true, [&](std::span<const GcRecord> records) {
    figures.values += records.size();
    figures.bytes_read += PlanReads(records).bytes();
    figures.bytes_written += RelocatedFileSize(records);
    clustered_[records.front().family].push_back({records.front().key.ToString(), records.back().key.ToString()});
    return true;
  }));
  clustered_bytes_ = figures.bytes_written;
  const std::map<std::uint64_t, Segment> before = segments_;
  for (auto& [number, segment] : segments_) {
    const OfflineAccess::LogNow log = db_.PinLog({&number, 1});
    if (log.sources.empty()) continue;
    Arena keys;
    std::vector<GcRecord> left;
    CAMBIUM_TRY(const bool is_listed, FindLive(log, log.sources.front(), 0, &keys, &left));
    const std::uint64_t live_bytes = std::exchange(segment.live_bytes, 0);
    for (const GcRecord& record : left) segment.live_bytes += record.size;
    segment.has_garbage = is_listed && (segment.has_garbage || segment.live_bytes < live_bytes);
  }
  const Status done = ForecastSteps();
  segments_ = before;
  clustered_.clear();
  clustered_bytes_ = 0;
  return done;
}

Status LogCompaction::Forecast() {
  FitIntoFreeSpace();
  CAMBIUM_RETURN_IF_ERROR(Look());
  CAMBIUM_RETURN_IF_ERROR(how_.cluster ? ForecastClustering() : ForecastSteps());
  if (how_.on_forecast) how_.on_forecast(report_.forecast);
  return Status::OK();
}

bool LogCompaction::GoesOn() {
  if (!how_.on_progress) return true;
  MutexLock lock(mutex_);
  const CompactLogFigures& all = report_.forecast.figures;
  const std::uint64_t done = report_.fact.bytes_read + report_.fact.bytes_written;
  lock.Unlock();
  return how_.on_progress(done, std::max(done, all.bytes_read + all.bytes_written));
}

Status LogCompaction::Cluster() {
  CompactLogFigures& fact = report_.fact;
  CAMBIUM_RETURN_IF_ERROR(db_.ClusterAll(false, [&](std::span<const GcRecord> records) {
    fact.values += records.size();
    fact.bytes_read += PlanReads(records).bytes();
    fact.bytes_written += RelocatedFileSize(records);
    return GoesOn();
  }));
  // The old copies become garbage once the layers that refer to them are compacted.
  CAMBIUM_RETURN_IF_ERROR(db_.RewriteIndexes());
  const std::uint64_t live_bytes = report_.live_bytes;
  CAMBIUM_RETURN_IF_ERROR(Look());
  report_.live_bytes = live_bytes;
  return Status::OK();
}

Status LogCompaction::Take(const OfflineAccess::LogNow& log, const LogStep& step) {
  assert(step.group != nullptr && !step.group->sources.empty());
  CAMBIUM_TRY(const OfflineAccess::MovedOut moved, db_.MoveOut(log, step.group->sources, step.empties, step.records));
  const MutexLock lock(mutex_);
  report_.fact.values += step.records.size();
  report_.fact.bytes_read += moved.bytes_read;
  report_.fact.bytes_written += moved.bytes_written;
  return Status::OK();
}

// Runs several steps at a time: one reads while another writes or waits for its sync. The step that empties the group
// must run last, so the thread that finishes the last of the other steps runs it. If another step fails, the step that
// empties the group never runs.
Status LogCompaction::BeginGroup(const std::shared_ptr<const OfflineAccess::LogNow>& log, std::vector<LogStep> steps) {
  assert(!steps.empty() && steps.back().empties && "the last step empties the group");
  const auto last = std::make_shared<const LogStep>(std::move(steps.back()));
  steps.pop_back();
  if (steps.empty() || MutantIs(Mutant::kCompactLogDropsLiveSegment)) {
    CAMBIUM_RETURN_IF_ERROR(db_.StartTask([this, log, last] { return Take(*log, *last); }, steps_at_a_time_));
  }
  const auto left = std::make_shared<std::atomic<std::size_t>>(steps.size());
  for (LogStep& step : steps) {
    const auto task = [this, log, last, left, its = std::move(step)]() -> Status {
      CAMBIUM_RETURN_IF_ERROR(Take(*log, its));
      return left->fetch_sub(1) == 1 ? Take(*log, *last) : Status::OK();
    };
    CAMBIUM_RETURN_IF_ERROR(db_.StartTask(task, steps_at_a_time_));
    if (!GoesOn()) return Status::Incomplete("stopped by the caller");
  }
  return GoesOn() ? Status::OK() : Status::Incomplete("stopped by the caller");
}

Status LogCompaction::Empty() {
  const Status begun = ForEachGroup([this](const std::shared_ptr<const OfflineAccess::LogNow>& log, std::vector<LogStep> steps) {
    return BeginGroup(log, std::move(steps));
  });
  const Status done = db_.AwaitTasks();
  return begun.ok() || !done.ok() ? done : begun;
}

void LogCompaction::CountGone(const std::map<std::uint64_t, Segment>& before) {
  const ManifestState state = db_.StateNow();
  report_.fact.segments += removed_by_seal_.segments;
  std::uint64_t gone = removed_by_seal_.bytes_freed;
  std::uint64_t held = removed_by_seal_.bytes_held;
  for (const auto& [number, segment] : before) {
    if (state.segments.contains(number)) continue;
    ++report_.fact.segments;
    (segment.is_shared ? held : gone) += segment.bytes;
  }
  CountFreed(gone, held, &report_.fact);
}

// Flushes all memtables and seals the log. Compactions that follow a flush may drop the last references to segments,
// which are then removed. This compaction counts these segments as emptied, because a dry run counts them too.
Status LogCompaction::SealAndCount() {
  std::vector<std::uint64_t> numbers;
  for (const auto& [number, info] : db_.StateNow().segments) {
    if (info.kind != SegmentKind::kLargeValue && info.sealed) numbers.push_back(number);
  }
  const OfflineAccess::LogNow opened = db_.PinLog(numbers);  // keeps removed segments readable
  CAMBIUM_RETURN_IF_ERROR(db_.SealWholeLog());
  const ManifestState state = db_.StateNow();
  for (const GcSource& source : opened.sources) {
    if (!state.segments.contains(source.info.number)) CAMBIUM_RETURN_IF_ERROR(CountRemoved(source));
  }
  return Status::OK();
}

Status LogCompaction::CountRemoved(const GcSource& source) {
  Arena keys;
  std::vector<GcRecord> records;
  const Status listed = ListRecords(source, 0, &keys, &records);
  if (!listed.ok() && !listed.IsCorruption()) return listed;
  if (listed.ok() && records.empty()) return Status::OK();
  FileInfo file;
  CAMBIUM_RETURN_IF_ERROR(source.segment->file().GetInfo(&file));
  const SegmentInfo& info = source.info;
  const std::uint64_t bytes = BytesOnDisk(info, file);
  ++removed_by_seal_.segments;
  (file.link_count > 1 ? removed_by_seal_.bytes_held : removed_by_seal_.bytes_freed) += bytes;
  return Status::OK();
}

Status LogCompaction::Run() {
  FitIntoFreeSpace();
  if (is_tight_) db_.ReleaseReserve();
  const Status done = RunSteps();
  if (done.severity() == Status::Severity::kFatal) return done;
  const Status reserved = db_.MakeReserve();
  return done.ok() ? reserved : done;
}

Status LogCompaction::RunSteps() {
  CAMBIUM_RETURN_IF_ERROR(SealAndCount());
  CAMBIUM_RETURN_IF_ERROR(db_.PersistOptions({!how_.recompress.has_value(), !how_.min_blob_size.has_value()}));
  CAMBIUM_RETURN_IF_ERROR(Forecast());
  if (how_.cluster) CAMBIUM_RETURN_IF_ERROR(CheckRoom(db_, report_.forecast.figures));
  const std::map<std::uint64_t, Segment> before = segments_;
  Status done;
  if (how_.cluster) done = Cluster();
  if (done.ok()) done = Empty();
  if (done.ok()) done = db_.RewriteIndexes();
  CountGone(before);
  for (const auto& [number, damage] : db_.DamagedSegments()) NoteDamage(number, damage);
  return done;
}

}  // namespace cambium
