// Random programs on the simulated file system. Their reads are compared with a map of strings, and the data that
// survives with the promise of each sync. At the end: threads, and large allocations, which crash tests need to be
// cheap.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "io/sim/order_checker.h"
#include "io/sim/sim_file_system.h"
#include "io/sim_test_util.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Files by name, as the running system sees them; hard links share a string.
using Model = std::map<std::string, std::shared_ptr<std::string>>;

class Program {
 public:
  Program(SimFileSystem* fs, std::uint64_t seed) : fs_(fs), prng_(seed) {}

  // One random operation on the file system and on the model.
  void Step() {
    const std::string name = "/" + std::string(1, static_cast<char>('a' + prng_.Uniform(5)));
    const std::string other = "/" + std::string(1, static_cast<char>('a' + prng_.Uniform(5)));
    const bool there = model_.contains(name);
    switch (prng_.Uniform(13)) {
      case 0: {
        std::unique_ptr<File> file;
        ASSERT_EQ(fs_->Open(name, OpenMode::kCreateNew, {}, &file).ok(), !there);
        if (!there) model_[name] = std::make_shared<std::string>();
        return;
      }
      case 1:
        ASSERT_EQ(fs_->Unlink(name).ok(), there);
        model_.erase(name);
        return;
      case 2:
        ASSERT_EQ(fs_->Rename(name, other).ok(), there);
        if (!there || (model_.contains(other) && model_[name] == model_[other])) return;
        model_[other] = model_[name];
        model_.erase(name);
        return;
      case 3: {
        const bool possible = there && !model_.contains(other);
        ASSERT_EQ(fs_->Link(name, other).ok(), possible);
        if (possible) model_[other] = model_[name];
        return;
      }
      case 4:
        ASSERT_TRUE(fs_->SyncDirectory("/").ok());
        return;
      case 5:
        if (there) {
          ASSERT_TRUE(MustOpen(fs_, name, OpenMode::kReadWrite)->SyncData().ok());
        }
        return;
      default:
        if (there) Change(name);
    }
  }

  void Compare() {
    std::vector<std::string> names;
    ASSERT_TRUE(fs_->List("/", &names).ok());
    ASSERT_EQ(names.size(), model_.size());
    for (const auto& [name, bytes] : model_) {
      std::string seen;
      ASSERT_TRUE(fs_->probe().ReadContents(name, &seen).ok());
      ASSERT_EQ(seen, *bytes) << name;
      FileInfo info;
      ASSERT_TRUE(fs_->GetInfo(name, &info).ok());
      std::uint64_t links = 0;
      for (const auto& [other, shared] : model_) links += shared == bytes ? 1 : 0;
      ASSERT_EQ(info.link_count, links);
    }
    ASSERT_EQ(fs_->Snapshot().disk().CheckInvariants(), "");
  }

  [[nodiscard]] const Model& model() const { return model_; }
  Prng& prng() { return prng_; }

 private:
  void Change(const std::string& name) {
    std::string& bytes = *model_[name];
    const auto file = MustOpen(fs_, name, OpenMode::kReadWrite);
    const std::uint64_t offset = prng_.Uniform(bytes.size() + 600);
    const std::uint64_t length = 1 + prng_.Skewed(13);
    switch (prng_.Uniform(6)) {
      case 0:
        ASSERT_TRUE(file->Truncate(offset).ok());
        bytes.resize(offset);
        return;
      case 1:
        ASSERT_TRUE(file->PunchHole(offset, length).ok());
        for (std::uint64_t i = offset; i < offset + length && i < bytes.size(); ++i) bytes[i] = '\0';
        return;
      case 2: {
        const bool grow = prng_.OneIn(2);
        ASSERT_TRUE(file->Allocate(offset, length, grow).ok());
        if (grow && bytes.size() < offset + length) bytes.resize(offset + length);
        return;
      }
      default: {
        const std::string data = prng_.Bytes(length);
        const std::size_t half = prng_.Uniform(length + 1);
        const Slice pieces[2] = {Slice(data.data(), half), Slice(data.data() + half, length - half)};
        ASSERT_TRUE(file->WriteVectored(offset, pieces).ok());
        if (bytes.size() < offset + length) bytes.resize(offset + length);
        bytes.replace(offset, length, data);
      }
    }
  }

  SimFileSystem* const fs_;
  Prng prng_;
  Model model_;
};

// Every cut and every kill must leave a consistent disk. The disk must equal the model if everything is synced, if the
// cut loses nothing, and after a kill.
TEST(SimModelTest, RandomProgramsMatchTheModelAndSurviveCuts) {
  const std::uint64_t seed = testing::SeedFromEnvironment(21);
  const std::uint64_t runs = testing::ScaledCount(60);
  for (std::uint64_t run = 0; run < runs; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    SimOptions options;
    options.names = static_cast<SimNames>(run % 3);
    SimFileSystem fs(options);
    Program program(&fs, seed + run);
    const auto expect_model = [&](const SimImage& image) {
      const SimFileSystem after(image);
      ASSERT_EQ(image.disk().CheckInvariants(), "");
      ASSERT_EQ(after.probe().ListFiles().size(), program.model().size());
      for (const auto& [name, bytes] : program.model()) ASSERT_EQ(ContentsIn(image, name), *bytes) << name;
    };
    for (int step = 0; step < 120; ++step) {
      ASSERT_NO_FATAL_FAILURE(program.Step());
      ASSERT_NO_FATAL_FAILURE(program.Compare());
      ASSERT_NO_FATAL_FAILURE(expect_model(fs.DrawCrash(program.prng(), DamageMix::Only(SimDamage::kAllKept))));
      const SimImage killed = fs.KillImage(program.prng());
      ASSERT_NO_FATAL_FAILURE(expect_model(killed));
      for (int cut = 0; cut < 3; ++cut) {
        CutReport report;
        const SimImage after = (cut == 2 ? killed : fs.Snapshot()).DrawCrash(program.prng(), {}, &report);
        ASSERT_EQ(after.disk().CheckInvariants(), "") << report.ToString();
        ASSERT_TRUE(after.Units().empty()) << report.ToString();
        // All bytes that IsFullyDurable() reports must survive.
        for (const auto& [name, bytes] : program.model()) {
          if (!fs.probe().IsFullyDurable(name, bytes->size())) continue;
          ASSERT_EQ(ContentsIn(after, name).substr(0, bytes->size()), *bytes) << report.ToString();
        }
      }
    }
    for (const auto& [name, bytes] : program.model()) {
      ASSERT_TRUE(MustOpen(&fs, name, OpenMode::kReadWrite)->SyncData().ok());
    }
    ASSERT_TRUE(fs.SyncDirectory("/").ok());
    for (int cut = 0; cut < 5; ++cut) ASSERT_NO_FATAL_FAILURE(expect_model(fs.DrawCrash(program.prng())));
    for (const auto& [name, bytes] : program.model()) ASSERT_TRUE(fs.probe().IsFullyDurable(name, bytes->size()));
  }
}

// Random programs with failing syncs must keep the disk consistent under every rule for names.
TEST(SimModelTest, RandomSyncFailuresKeepTheDiskConsistent) {
  const std::uint64_t seed = testing::SeedFromEnvironment(22);
  for (std::uint64_t run = 0; run < testing::ScaledCount(200); ++run) {
    SimOptions options;
    options.seed = run;
    options.names = static_cast<SimNames>(run % 3);
    SimFileSystem fs(options);
    Prng prng(seed + run);
    std::map<std::string, std::unique_ptr<File>> files;
    for (int step = 0; step < 100; ++step) {
      const std::string name = "/" + std::string(1, static_cast<char>('a' + prng.Uniform(4)));
      std::unique_ptr<File>& file = files[name];
      if (prng.OneIn(4)) {
        SimFault fault;
        fault.sync = static_cast<SyncFailure>(prng.Uniform(4));
        fault.partial_drop = prng.OneIn(2);
        fault.matches = [](SimOpKind kind, const std::string&) {
          return kind == SimOpKind::kSync || kind == SimOpKind::kSyncDirectory;
        };
        fs.AddFault(fault);
      }
      switch (prng.Uniform(8)) {
        case 0:
          (void)fs.Open(name, OpenMode::kCreateNew, {}, &file).ok();
          break;
        case 1:
          (void)fs.Unlink(name).ok();
          break;
        case 2:
          (void)fs.SyncDirectory("/").ok();
          break;
        case 3:
          if (file != nullptr) (void)file->SyncData().ok();
          break;
        case 4:
          if (file != nullptr) {
            ASSERT_TRUE(file->Truncate(prng.Uniform(9000)).ok());
          }
          break;
        case 5:
          if (file != nullptr) {
            ASSERT_TRUE(file->Advise(prng.Uniform(9000), prng.Uniform(9000), AccessHint::kDontNeed).ok());
          }
          break;
        default:
          if (file != nullptr) {
            ASSERT_TRUE(file->Write(prng.Uniform(9000), Slice(prng.Bytes(prng.Uniform(6000)))).ok());
          }
      }
      ASSERT_EQ(fs.Snapshot().disk().CheckInvariants(), "") << "run " << run << " step " << step;
      CutReport report;
      const SimImage after = fs.DrawCrash(prng, {}, &report);
      ASSERT_EQ(after.disk().CheckInvariants(), "") << report.ToString();
      ASSERT_EQ(fs.KillImage(prng).disk().CheckInvariants(), "");
    }
  }
}

// Directories are created, removed and moved, and few of them are synced.
TEST(SimModelTest, LostDirectoriesLoseTheirContents) {
  const std::uint64_t seed = testing::SeedFromEnvironment(23);
  for (std::uint64_t run = 0; run < 200; ++run) {
    SimOptions options;
    options.names = static_cast<SimNames>(run % 3);
    SimFileSystem fs(options);
    Prng prng(seed + run);
    const std::vector<std::string> directories = {"", "/x", "/y", "/x/z", "/y/z"};
    for (int step = 0; step < 60; ++step) {
      const std::string& directory = directories[prng.Uniform(directories.size())];
      const std::string& other = directories[prng.Uniform(directories.size())];
      std::unique_ptr<File> file;
      switch (prng.Uniform(7)) {
        case 0:
          (void)fs.CreateDirectory(directory).ok();
          break;
        case 1:
          (void)fs.RemoveDirectory(directory).ok();
          break;
        case 2:
          (void)fs.Rename(directory, other).ok();
          break;
        case 3:
          (void)fs.Open(directory + "/f", OpenMode::kCreateNew, {}, &file).ok();
          break;
        case 4:
          (void)fs.Rename(directory + "/f", other + "/f").ok();
          break;
        case 5:
          (void)fs.Unlink(directory + "/f").ok();
          break;
        default:
          (void)fs.SyncDirectory(directory).ok();
      }
      ASSERT_EQ(fs.Snapshot().disk().CheckInvariants(), "") << "run " << run << " step " << step;
      for (int cut = 0; cut < 3; ++cut) {
        const SimImage after = fs.DrawCrash(prng);
        ASSERT_EQ(after.disk().CheckInvariants(), "") << "run " << run << " step " << step;
        ASSERT_TRUE(after.Units().empty());
      }
    }
  }
}

// Four threads write their own files, one takes images and draws cuts, two start file systems from a shared image.
TEST(SimThreadsTest, ThreadsShareFileSystemAndImages) {
  SimFileSystem fs;
  OrderChecker checker(&fs);
  const auto shared = MustCreateDurable(&fs, "/shared", Slice(std::string(20000, 's')));
  const SimImage image = fs.Snapshot();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&fs, t] {
      const std::string path = "/" + std::to_string(t);
      const auto file = MustOpen(&fs, path, OpenMode::kCreateNew);
      for (std::uint64_t i = 0; i < 200; ++i) {
        EXPECT_TRUE(file->Write(i * 100, Slice(std::string(100, static_cast<char>('a' + t)))).ok());
        if (i % 10 == 0) {
          EXPECT_TRUE(file->SyncData().ok());
        }
      }
      EXPECT_TRUE(fs.SyncDirectory("/").ok());
    });
  }
  threads.emplace_back([&fs] {
    Prng prng(1);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(fs.DrawCrash(prng).disk().CheckInvariants(), "");
  });
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&image, t] {
      for (int i = 0; i < 50; ++i) {
        SimFileSystem own(image);
        const auto file = MustOpen(&own, "/shared", OpenMode::kReadWrite);
        EXPECT_TRUE(file->Write(static_cast<std::uint64_t>(i) * 300, t == 0 ? "0000" : "1111").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(checker.violations().empty());
  EXPECT_EQ(ContentsIn(image, "/shared"), std::string(20000, 's'));
  for (int t = 0; t < 4; ++t) {
    std::string bytes;
    ASSERT_TRUE(fs.probe().ReadContents("/" + std::to_string(t), &bytes).ok());
    EXPECT_EQ(bytes, std::string(20000, static_cast<char>('a' + t)));
  }
}

// Allocating and truncating large files must not cost as much as writing them.
TEST(SimModelTest, LargeAllocationsAreCheap) {
  constexpr std::uint64_t kSegment = std::uint64_t{256} << 20;
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "head");
  Prng prng(1);
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(file->Allocate(0, kSegment, true).ok());
    ASSERT_EQ(fs.probe().allocated_bytes(), kSegment);
    ASSERT_TRUE(file->Write(4, "tail").ok());
    const SimImage reserved = fs.DrawCrash(prng);
    ASSERT_TRUE(file->Truncate(8).ok());
    EXPECT_EQ(ContentsIn(fs.DrawCrash(prng, DamageMix::Only(SimDamage::kAllKept)), "/a"), "headtail");
    EXPECT_LE(fs.Snapshot().Units().size(), 2u * (static_cast<unsigned>(i) + 1));
    FileInfo info;
    SimFileSystem after(reserved);
    ASSERT_TRUE(after.GetInfo("/a", &info).ok());
    EXPECT_TRUE(info.size == 4 || info.size == 8 || info.size == kSegment) << info.size;
  }
}

}  // namespace
}  // namespace cambium
