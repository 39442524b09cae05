// A toy commit log on the simulated file system, correct or with one defect. Cuts must reveal every defect, and none in
// the correct log.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "io/sim_test_util.h"
#include "testing/seed.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/prng.h"

namespace cambium {
namespace {

enum class Defect { kNone, kNoDataSync, kNoDirectorySync, kForgetRotated, kClaimsLate, kNoChecksum };

// Files "/db/1", "/db/2", ... with records of {checksum, number, size, payload}. The payload of record n depends only
// on n.
class ToyLog {
 public:
  ToyLog(SimFileSystem* fs, Defect defect) : fs_(fs), defect_(defect) {}

  Status Create() {
    if (Status status = fs_->CreateDirectory("/db"); !status.ok()) return status;
    if (Status status = fs_->SyncDirectory("/"); !status.ok()) return status;
    return Rotate();
  }

  Status Rotate() {
    if (file_ != nullptr && defect_ != Defect::kForgetRotated) dirty_.push_back(std::move(file_));
    offset_ = 0;
    return fs_->Open("/db/" + std::to_string(++files_), OpenMode::kCreateNew, {}, &file_);
  }

  Status Append() {
    const std::string record = Record(++last_);
    Status status = file_->Write(offset_, Slice(record));
    offset_ += record.size();
    return status;
  }

  // Acknowledges everything that was appended before the call.
  Status Sync() {
    std::uint64_t covered = last_;
    for (const auto& file : dirty_) {
      if (Status status = file->SyncData(); !status.ok()) return status;
    }
    dirty_.clear();
    if (defect_ != Defect::kNoDataSync) {
      if (Status status = file_->SyncData(); !status.ok()) return status;
    }
    if (defect_ != Defect::kNoDirectorySync) {
      if (Status status = fs_->SyncDirectory("/db"); !status.ok()) return status;
    }
    if (defect_ == Defect::kClaimsLate) covered = last_;
    acknowledged_ = covered;
    return Status::OK();
  }

  [[nodiscard]] std::uint64_t last() const { return last_; }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }

  static std::string Payload(std::uint64_t number) { return Prng(number).Bytes(1 + number * 37 % 700); }

  static std::string Record(std::uint64_t number) {
    std::string body;
    PutFixed<std::uint64_t>(&body, number);
    const std::string payload = Payload(number);
    PutFixed(&body, static_cast<std::uint32_t>(payload.size()));
    body += payload;
    std::string record;
    PutFixed<std::uint64_t>(&record, Checksum64(Slice(body), 0));
    return record + body;
  }

  // Sets *count to the number of valid records from the first one on. Returns false if one differs from what was
  // written.
  static bool Recover(SimFileSystem* fs, Defect defect, std::uint64_t* count) {
    *count = 0;
    for (int n = 1;; ++n) {
      std::string bytes;
      if (!fs->probe().ReadContents("/db/" + std::to_string(n), &bytes).ok()) return true;
      Slice rest(bytes);
      while (rest.size() >= 20) {
        const std::uint32_t size = DecodeFixed<std::uint32_t>(rest.data() + 16);
        if (size > rest.size() - 20 || size == 0) return true;
        const Slice body = rest.substr(8, 12 + size);
        if (defect != Defect::kNoChecksum && Checksum64(body, 0) != DecodeFixed<std::uint64_t>(rest.data()))
          return true;
        if (DecodeFixed<std::uint64_t>(rest.data() + 8) != *count + 1) return true;
        ++*count;
        if (rest.substr(20, size) != Slice(Payload(*count))) return false;
        rest.remove_prefix(20 + size);
      }
      if (!rest.empty()) return true;
    }
  }

 private:
  SimFileSystem* const fs_;
  const Defect defect_;
  std::unique_ptr<File> file_;
  std::vector<std::unique_ptr<File>> dirty_;
  int files_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t acknowledged_ = 0;
};

// Runs the log once, takes an image at every phase of every operation, and cuts the power there in several ways.
// Returns how many cuts lost an acknowledged record or left a wrong one.
int RevealingCuts(Defect defect, std::uint64_t seed, const SimOptions& options = {}, int* cuts = nullptr) {
  struct Moment {
    SimImage image;
    std::uint64_t acknowledged;
  };
  Prng prng(seed);
  SimFileSystem fs(options);
  ToyLog log(&fs, defect);
  EXPECT_TRUE(log.Create().ok());
  std::vector<Moment> moments;
  const int hook = fs.AddHook([&](const SimOp& op) {
    moments.push_back({fs.Snapshot(), log.acknowledged()});
    // Another writer gets in while the sync runs.
    if (op.kind == SimOpKind::kSync && op.phase == SimPhase::kInside && prng.OneIn(2)) {
      EXPECT_TRUE(log.Append().ok());
    }
  });
  for (int i = 0; i < 40; ++i) {
    const std::uint64_t what = prng.Uniform(10);
    EXPECT_TRUE((what == 0 ? log.Rotate() : what < 7 ? log.Append() : log.Sync()).ok());
  }
  fs.RemoveHook(hook);

  int revealing = 0;
  for (const Moment& moment : moments) {
    for (int variant = 0; variant < 6; ++variant) {
      const bool killed_first = variant == 5;
      const SimImage after = killed_first ? moment.image.Kill(prng).DrawCrash(prng) : moment.image.DrawCrash(prng);
      SimFileSystem next(after, options);
      std::uint64_t count = 0;
      const bool right = ToyLog::Recover(&next, defect, &count);
      revealing += !right || count < moment.acknowledged || count > log.last() ? 1 : 0;
      if (cuts != nullptr) ++*cuts;
    }
  }
  return revealing;
}

class SimToyLogTest : public ::testing::TestWithParam<Defect> {};

TEST_P(SimToyLogTest, CutsRevealExactlyTheDefects) {
  const std::uint64_t seed = testing::SeedFromEnvironment(11);
  int revealing = 0;
  int cuts = 0;
  for (std::uint64_t run = 0; run < 30; ++run) revealing += RevealingCuts(GetParam(), seed + run, {}, &cuts);
  EXPECT_GT(cuts, 5000);
  if (GetParam() == Defect::kNone) {
    EXPECT_EQ(revealing, 0);
  } else {
    EXPECT_GT(revealing, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Defects, SimToyLogTest,
                         ::testing::Values(Defect::kNone, Defect::kNoDataSync, Defect::kNoDirectorySync,
                                           Defect::kForgetRotated, Defect::kClaimsLate, Defect::kNoChecksum));

// Real ext4 hides a missing directory sync, and so does kExt4. That is why the simulator's default is kPosix.
TEST(SimToyLogOnExt4Test, MissingDirectorySyncIsNotRevealed) {
  SimOptions options;
  options.names = SimNames::kExt4;
  int revealing = 0;
  for (std::uint64_t run = 0; run < 30; ++run) revealing += RevealingCuts(Defect::kNoDirectorySync, run, options);
  EXPECT_EQ(revealing, 0);
}

}  // namespace
}  // namespace cambium
