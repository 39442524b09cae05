#include "testing/program/program_database.h"

#include <utility>

#include "api/db_inside.h"
#include "io/sim/sim_random_source.h"
#include "state/gaps.h"
#include "testing/deep_verify.h"
#include "testing/index_mode.h"
#include "testing/files/move_pages.h"
#include "testing/files/page_cache.h"
#include "upkeep/flush/snapshot_runs.h"
#include "util/prng.h"
#include "vlog/segment_map.h"

namespace cambium::testing {

ProgramDatabase::ProgramDatabase(const Config& config, std::shared_ptr<SimFileSystem> fs, std::uint64_t seed)
    : config_(config), path_(kSimDatabasePath), seed_(seed), sim_(std::move(fs)) {
  config_.ApplyTo(&options_);
  UseIndexOfTest(&options_);
  clock_ = std::make_shared<SimClock>();
  options_.create_if_missing = true;
  options_.file_system = sim_;
  options_.clock = clock_;
  options_.random_source = std::make_shared<SimRandomSource>(seed);
  options_.info_log = NullLogger();
}

ProgramDatabase::ProgramDatabase(const Config& config, std::string path) : config_(config), path_(std::move(path)) {
  config_.ApplyTo(&options_);
  UseIndexOfTest(&options_);
  options_.create_if_missing = true;
  options_.info_log = NullLogger();
}

ProgramDatabase::~ProgramDatabase() = default;

Status ProgramDatabase::Open() {
  if (on_open_) on_open_();
  ++open_count_;
  DrawFilterOfThisLife();
  options_.write_buffer_size = WriteBufferOfOpen(open_count_);
  if (sim_ != nullptr) {
    Prng prng(seed_ + open_count_);
    testing::MovePages(sim_.get(), prng);
    SegmentMap::ResetThreadCounters();
    gap_tombstones_least = 1 + (seed_ + open_count_) % 6;  // few keys follow each other in random programs
    dead_stretch_least = 2 + (seed_ + open_count_) % 5;
    bytes_per_snapshot_least = (seed_ + open_count_) % 3 == 0 ? 2000 : 0;  // memtables are small
    executor_ = config_.shuffle_tasks ? std::make_shared<ManualExecutor>(seed_ + open_count_)
                                      : std::make_shared<ManualExecutor>();
    executor_->OnNothingToRun([] { throw Stuck(); });
    options_.executor = executor_;
    if (config_.listeners) {
      watch_ = std::make_shared<FileWatch>(Paths());
      options_.listeners = {watch_};
    }
  }
  return DB::Open(options_, path_, &db_);
}

void ProgramDatabase::DrawFilterOfThisLife() {
  has_filter_ = config_.filter != nullptr && (config_.filter_lives >> open_count_ % 32 & 1) != 0;
  Options with_filter;
  config_.ApplyTo(&with_filter);
  options_.compaction_filter = has_filter_ ? with_filter.compaction_filter : nullptr;
  options_.compaction_filter_factory = has_filter_ ? with_filter.compaction_filter_factory : nullptr;
}

std::size_t ProgramDatabase::WriteBufferOfOpen(std::uint64_t open) const {
  constexpr std::size_t kSmallest = 4u << 10;
  Prng prng(seed_ * 31 + open);
  return config_.varies_buffers && prng.OneIn(2) ? kSmallest : config_.write_buffer_size;
}

void ProgramDatabase::MovePages(std::uint64_t id) {
  Prng prng(seed_ ^ id * 0x9e3779b97f4a7c15u);
  if (!prng.OneIn(16)) return;
  if (sim_ != nullptr) {
    testing::MovePages(sim_.get(), prng);
  } else {
    static_cast<void>(ForgetLogPages(path_, prng.OneIn(2) ? Forget::kEverySegment : Forget::kEveryOther));
  }
}

Status ProgramDatabase::Close() {
  const Status closed = db_->Close();
  if (!closed.IsAborted()) db_.reset();
  return closed;
}

void ProgramDatabase::Abandon() { static_cast<void>(db_.release()); }

void ProgramDatabase::RunBackground(std::uint64_t count) {
  if (executor_ == nullptr) return;
  for (std::uint64_t i = 0; i < count && executor_->pending() > 0; ++i) static_cast<void>(executor_->RunOneInstead());
}

std::vector<std::string> ProgramDatabase::Paths() const {
  std::vector<std::string> paths;
  for (const auto& file : sim_->probe().ListFiles()) paths.push_back(file.path);
  return paths;
}

std::string ProgramDatabase::CheckListeners(bool compare) const {
  if (watch_ == nullptr) return "";
  return compare ? watch_->Compare(Paths()) : watch_->wrong();
}

std::string ProgramDatabase::CheckInvariants() const {
  const DbInside* const inside = DbInside::Of(db_.get());
  const Status s = inside == nullptr ? Status::OK() : inside->CheckInvariants();
  return s.ok() ? "" : s.ToString();
}

std::string ProgramDatabase::CheckAccounts() const {
  const DbInside* const inside = DbInside::Of(db_.get());
  const Status s = inside == nullptr ? Status::OK() : inside->CheckAccounts();
  return s.ok() ? "" : s.ToString();
}

std::string ProgramDatabase::Verify() const {
  if (sim_ != nullptr) return VerifyImage(sim_->Snapshot(), options_);
  return DeepVerify(path_, options_);
}

std::string VerifyImage(const SimImage& image, const Options& options) {
  Options copy = options;
  copy.file_system = std::make_shared<SimFileSystem>(image);
  return DeepVerify(kSimDatabasePath, copy);
}

}  // namespace cambium::testing
