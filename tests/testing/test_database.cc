#include "testing/test_database.h"

#include <utility>

#include "io/sim/sim_random_source.h"
#include "testing/deep_verify.h"
#include "testing/index_mode.h"
#include "util/prng.h"
#include "vlog/segment_map.h"

namespace cambium::testing {

TestDatabase::TestDatabase(const Config& config, std::shared_ptr<SimFileSystem> fs, std::uint64_t seed)
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

TestDatabase::TestDatabase(const Config& config, std::string path) : config_(config), path_(std::move(path)) {
  config_.ApplyTo(&options_);
  UseIndexOfTest(&options_);
  options_.create_if_missing = true;
  options_.info_log = NullLogger();
}

TestDatabase::~TestDatabase() = default;

Status TestDatabase::Open() {
  if (on_open_) on_open_();
  if (sim_ != nullptr) {
    ++openings_;
    switch (Prng prng(seed_ + openings_); prng.Uniform(3)) {  // warm reads, cold ones, or both
      case 0: sim_->SetResident(true); break;
      case 1: sim_->SetResident(false); break;
      default: sim_->SetResidentInPart(prng.Next());
    }
    SegmentMap::BeginTurnsAnew();
    executor_ = config_.shuffle_tasks ? std::make_shared<ManualExecutor>(seed_ + openings_)
                                      : std::make_shared<ManualExecutor>();
    executor_->OnNothingToRun([] { throw Stuck(); });
    options_.executor = executor_;
  }
  return DB::Open(options_, path_, &db_);
}

Status TestDatabase::Close() {
  const Status closed = db_->Close();
  if (!closed.IsAborted()) db_.reset();
  return closed;
}

void TestDatabase::Abandon() { static_cast<void>(db_.release()); }

void TestDatabase::RunBackground(std::uint64_t count) {
  if (executor_ == nullptr) return;
  for (std::uint64_t i = 0; i < count && executor_->pending() > 0; ++i) static_cast<void>(executor_->RunOneInstead());
}

std::string TestDatabase::Verify() const {
  if (sim_ != nullptr) return VerifyImage(sim_->Snapshot(), options_);
  return DeepVerify(path_, options_);
}

std::string VerifyImage(const SimImage& image, const Options& options) {
  Options copy = options;
  copy.file_system = std::make_shared<SimFileSystem>(image);
  return DeepVerify(kSimDatabasePath, copy);
}

}  // namespace cambium::testing
