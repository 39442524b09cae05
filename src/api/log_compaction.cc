#include "api/log_compaction.h"

#include <algorithm>
#include <utility>

#include "gc/record_reads.h"
#include "gc/victims.h"
#include "io/file_header.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Of values, in all steps that are under way. What is under way takes twice as much memory. A step has no more than a
// segment, if segments are small.
constexpr std::uint64_t kBytesUnderWay = 128u << 20;
constexpr int kStepsAtATimeMax = 8;

// The file and the key of every hole may keep a part of two blocks.
constexpr std::uint64_t kKeptPerHole = 2 * 4096;

// Clustering has all of it twice, until the old copies go.
Status CheckRoom(const DbImpl& db, const CompactLogFigures& forecast) {
  std::uint64_t free_bytes = 0;
  const Status asked = db.file_system().FreeSpace(db.GetName(), &free_bytes);
  if (!asked.ok() || free_bytes >= forecast.bytes_written) return Status::OK();
  return Status::NoSpace(db.GetName() + ": writing all values in the order of their keys needs " +
                         std::to_string(forecast.bytes_written) + " bytes, and " +
                         std::to_string(free_bytes) + " are free");
}

}  // namespace

LogCompaction::LogCompaction(DbImpl* db, const CompactLogOptions& how, std::uint64_t as_wanted_from,
                             CompactLogReport* report)
    : db_(*db),
      how_(how),
      as_wanted_from_(as_wanted_from),
      steps_at_a_time_(std::clamp(db->GetOptions(db->DefaultColumnFamily()).max_background_jobs, 2, kStepsAtATimeMax)),
      step_bytes_(std::min<std::uint64_t>(kBytesUnderWay / static_cast<std::uint64_t>(steps_at_a_time_),
                                          db->GetOptions(db->DefaultColumnFamily()).blob_file_size)),
      report_(*report) {}

// On a disk that is nearly full, one step at a time, and first what has least to be moved: each makes room for the next.
void LogCompaction::FitIntoFreeSpace() {
  constexpr std::uint64_t kStepBytesLeast = 64u << 10;
  std::uint64_t free_bytes = 0;
  if (!db_.file_system().FreeSpace(db_.GetName(), &free_bytes).ok()) return;
  is_tight_ = free_bytes < 2 * step_bytes_ * static_cast<std::uint64_t>(steps_at_a_time_);
  if (!is_tight_) return;
  steps_at_a_time_ = 1;
  step_bytes_ = std::clamp<std::uint64_t>(free_bytes / 4, std::min(step_bytes_, kStepBytesLeast), step_bytes_);
}

Result<bool> LogCompaction::FindLive(const DbImpl::LogNow& log, const GcSource& source, std::uint32_t index, Arena* keys,
                                     std::vector<GcRecord>* live) {
  Arena all_keys;
  std::vector<GcRecord> records;
  const Status listed = ListRecords(source, 0, &all_keys, &records);
  if (listed.IsCorruption()) {
    if (damaged_.insert(source.info.number).second) report_.damaged.push_back(std::string(listed.message()));
    return false;
  }
  CAMBIUM_RETURN_IF_ERROR(listed);
  // What stands in memory, in a database that is open for reading, is newer than the layers.
  std::vector<GcRecord> unflushed;
  std::erase_if(records, [&](const GcRecord& record) {
    const FamilyView* const family = log.view->Find(record.family);
    Entry newest;
    if (family == nullptr || !View::FindInMemory(*family, record.key, kMaxSequenceNumber, &newest)) return false;
    const ValueAddress address = ValueAddress::InLog(source.info.slot, record.offset, record.size);
    if (newest.HasAddress() && newest.address == address) unflushed.push_back(record);
    return true;
  });
  CAMBIUM_RETURN_IF_ERROR(KeepLive(log.families, {&source, 1}, &records));
  records.insert(records.end(), unflushed.begin(), unflushed.end());
  for (GcRecord& record : records) {
    CAMBIUM_TRY(record.key, CopyKey(record.key, keys));
    record.source = index;
    live->push_back(record);
  }
  return true;
}

Status LogCompaction::Look() {
  segments_.clear();
  report_.live_bytes = 0;
  for (const std::uint64_t number : db_.SegmentsOfLog()) {
    const DbImpl::LogNow log = db_.PinLog({&number, 1});
    for (const GcSource& source : log.sources) CAMBIUM_RETURN_IF_ERROR(LookAt(log, source));
  }
  return Status::OK();
}

Status LogCompaction::LookAt(const DbImpl::LogNow& log, const GcSource& source) {
  Arena keys;
  std::vector<GcRecord> live;
  CAMBIUM_TRY(const bool is_listed, FindLive(log, source, 0, &keys, &live));
  const SegmentInfo& info = source.info;
  Segment segment;
  segment.bytes = info.file_size;
  if (!info.punched.empty()) {
    FileInfo file;
    CAMBIUM_RETURN_IF_ERROR(source.segment->file().GetInfo(&file));
    segment.bytes = std::min(info.file_size, file.allocated_bytes);
  }
  for (const GcRecord& record : live) segment.live_bytes += record.size;
  const std::uint64_t kept = segment.live_bytes + kFileHeaderSize + (info.file_size - info.sealed_length) +
                             info.punched.size() * kKeptPerHole;
  segment.has_garbage = is_listed && segment.bytes > kept;
  report_.live_bytes += segment.live_bytes;
  segments_.emplace(info.number, segment);
  return Status::OK();
}

std::vector<std::uint64_t> LogCompaction::Victims() const {
  std::set<std::uint64_t> numbers;
  std::vector<std::pair<double, std::uint64_t>> by_garbage;  // least alive first
  std::uint64_t log_bytes = 0;
  for (const auto& [number, segment] : segments_) {
    log_bytes += segment.bytes;
    const double alive = static_cast<double>(segment.live_bytes) / static_cast<double>(std::max<std::uint64_t>(segment.bytes, 1));
    if (segment.has_garbage) by_garbage.emplace_back(alive, number);
    if (ChangesForm() && number <= as_wanted_from_ && !damaged_.contains(number)) numbers.insert(number);
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
    std::ranges::stable_sort(victims, {}, [this](std::uint64_t number) { return segments_.at(number).live_bytes; });
  }
  return victims;
}

Status LogCompaction::ForEachGroup(const VisitGroup& visit) {
  const std::vector<std::uint64_t> victims = Victims();
  for (std::size_t at = 0; at < victims.size();) {
    const std::size_t count = is_tight_ ? 1 : std::min(victims.size() - at, kLogGroupMax);
    // Held by the steps that come of it, and no longer, so that files go.
    auto log = std::make_shared<DbImpl::LogNow>(db_.PinLog(std::span(victims).subspan(at, count)));
    EncodeAsWanted(log.get());
    const auto find = [&](const GcSource& source, std::uint32_t index, Arena* keys, std::vector<GcRecord>* live) {
      return FindLive(*log, source, index, keys, live);
    };
    std::size_t taken = 0;
    CAMBIUM_TRY(std::vector<LogStep> steps, TakeLogSteps(log->sources, log->families, step_bytes_, find, &taken));
    at += log->sources.empty() ? count : taken;
    if (!steps.empty()) CAMBIUM_RETURN_IF_ERROR(visit(log, std::move(steps)));
    if (!is_tight_) continue;
    log.reset();
    CAMBIUM_RETURN_IF_ERROR(db_.AwaitBeside());
    CAMBIUM_RETURN_IF_ERROR(db_.AwaitIdle());  // files have gone
  }
  return Status::OK();
}

void LogCompaction::EncodeAsWanted(DbImpl::LogNow* log) const {
  for (GcFamily& family : log->families) {
    const OptionsInForce& options = log->view->Find(family.id)->family->in_force();
    if (how_.recompress.has_value()) family.codec = options.codec;
    if (how_.min_blob_size.has_value()) family.separate_from = options.separate_from;
  }
}

Status LogCompaction::ForecastSteps() {
  CompactLogFigures& figures = report_.forecast.figures;
  std::uint64_t gone = 0;
  CAMBIUM_RETURN_IF_ERROR(ForEachGroup([&](const auto&, const std::vector<LogStep>& steps) {
    for (const LogStep& step : steps) {
      figures.values += step.records.size();
      figures.bytes_read += PlanReads(step.records).bytes();
      figures.bytes_written += RelocatedFileSize(step.records);
    }
    figures.segments += steps.front().group->sources.size();
    for (const GcSource& source : steps.front().group->sources) gone += segments_.at(source.info.number).bytes;
    return Status::OK();
  }));
  figures.bytes_freed = gone - std::min(gone, figures.bytes_written);
  report_.forecast.is_exact = !ChangesForm();
  return Status::OK();
}

// Everything that has to move does, and all garbage goes.
Status LogCompaction::ForecastClustering() {
  CompactLogFigures& figures = report_.forecast.figures;
  CAMBIUM_RETURN_IF_ERROR(db_.ClusterAll(true, [&](std::span<const GcRecord> records) {
    figures.values += records.size();
    figures.bytes_read += PlanReads(records).bytes();
    figures.bytes_written += RelocatedFileSize(records);
    return true;
  }));
  std::uint64_t bytes = 0;
  for (const auto& [number, segment] : segments_) {
    bytes += segment.bytes;
    if (segment.has_garbage || figures.values > 0) ++figures.segments;
  }
  figures.bytes_freed = bytes - std::min(bytes, report_.live_bytes);
  report_.forecast.is_exact = false;
  return Status::OK();
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
  std::unique_lock lock(mutex_);
  const CompactLogFigures& all = report_.forecast.figures;
  const std::uint64_t done = report_.fact.bytes_read + report_.fact.bytes_written;
  lock.unlock();
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
  // The old copies are garbage only when the layers that refer to them have been merged away.
  CAMBIUM_RETURN_IF_ERROR(db_.RewriteIndexes());
  const std::uint64_t live_bytes = report_.live_bytes;
  CAMBIUM_RETURN_IF_ERROR(Look());
  report_.live_bytes = live_bytes;
  return Status::OK();
}

Status LogCompaction::Take(const DbImpl::LogNow& log, const LogStep& step) {
  CAMBIUM_TRY(const DbImpl::MovedOut moved, db_.MoveOut(log, step.group->sources, step.empties, step.records));
  const std::lock_guard lock(mutex_);
  report_.fact.values += step.records.size();
  report_.fact.bytes_read += moved.bytes_read;
  report_.fact.bytes_written += moved.bytes_written;
  return Status::OK();
}

// Several steps at a time: one reads while another writes or waits for its sync. The step that empties a group comes behind
// all others of it, by whoever is the last of them; if one has failed, never.
Status LogCompaction::BeginGroup(const std::shared_ptr<const DbImpl::LogNow>& log, std::vector<LogStep> steps) {
  const auto last = std::make_shared<const LogStep>(std::move(steps.back()));
  steps.pop_back();
  if (steps.empty() || MutantIs(Mutant::kEmptiesTooEarly)) {
    CAMBIUM_RETURN_IF_ERROR(db_.BeginBeside([this, log, last] { return Take(*log, *last); }, steps_at_a_time_));
  }
  const auto left = std::make_shared<std::atomic<std::size_t>>(steps.size());
  for (LogStep& step : steps) {
    const auto task = [this, log, last, left, its = std::move(step)]() -> Status {
      CAMBIUM_RETURN_IF_ERROR(Take(*log, its));
      return left->fetch_sub(1) == 1 ? Take(*log, *last) : Status::OK();
    };
    CAMBIUM_RETURN_IF_ERROR(db_.BeginBeside(task, steps_at_a_time_));
    if (!GoesOn()) return Status::Incomplete("stopped by the caller");
  }
  return GoesOn() ? Status::OK() : Status::Incomplete("stopped by the caller");
}

Status LogCompaction::Empty() {
  const Status begun = ForEachGroup([this](const std::shared_ptr<const DbImpl::LogNow>& log, std::vector<LogStep> steps) {
    return BeginGroup(log, std::move(steps));
  });
  const Status done = db_.AwaitBeside();
  return begun.ok() || !done.ok() ? done : begun;
}

void LogCompaction::CountGone(const std::map<std::uint64_t, Segment>& before) {
  const ManifestState state = db_.StateNow();
  std::uint64_t gone = 0;
  for (const auto& [number, segment] : before) {
    if (state.segments.contains(number)) continue;
    ++report_.fact.segments;
    gone += segment.bytes;
  }
  report_.fact.bytes_freed = gone - std::min(gone, report_.fact.bytes_written);
}

Status LogCompaction::Run() {
  FitIntoFreeSpace();
  if (is_tight_) db_.GiveUpReserve();
  CAMBIUM_RETURN_IF_ERROR(db_.SettleLog());
  CAMBIUM_RETURN_IF_ERROR(Forecast());
  if (how_.cluster) CAMBIUM_RETURN_IF_ERROR(CheckRoom(db_, report_.forecast.figures));
  const std::map<std::uint64_t, Segment> before = segments_;
  Status done;
  if (how_.cluster) done = Cluster();
  if (done.ok()) done = Empty();
  if (done.ok()) done = db_.RewriteIndexes();
  CountGone(before);
  for (std::string& reason : db_.DamagedSegments()) report_.damaged.push_back(std::move(reason));
  return done;
}

}  // namespace cambium
