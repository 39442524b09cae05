// TestDatabase: a database with its surroundings, in a simulated file system with tasks that run when asked, or in a
// real directory with threads of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cambium/db.h"
#include "io/sim/sim_clock.h"
#include "io/sim/sim_file_system.h"
#include "testing/file_watch.h"
#include "testing/program.h"
#include "util/manual_executor.h"

namespace cambium::testing {

// Thrown by the executor of a TestDatabase when a call of the database is about to block and no task is left that
// could wake it: with one thread that is for ever. The database must be abandoned then.
struct Stuck {};

class TestDatabase {
 public:
  // Everything that is drawn inside comes from `seed`.
  TestDatabase(const Config& config, std::shared_ptr<SimFileSystem> fs, std::uint64_t seed);
  TestDatabase(const Config& config, std::string path);
  ~TestDatabase();
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  Status Open();
  // Called at the beginning of each Open.
  void OnOpen(std::function<void()> f) { on_open_ = std::move(f); }
  // Close, then destruction; the status of Close.
  Status Close();
  // Destruction without Close.
  void Drop() { db_.reset(); }
  // Never destroyed: after Stuck, its destructor would block too.
  void Abandon();

  [[nodiscard]] DB* get() const { return db_.get(); }
  DB* operator->() const { return db_.get(); }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] SimFileSystem* sim() const { return sim_.get(); }  // null in a real directory
  [[nodiscard]] SimClock* clock() const { return clock_.get(); }
  // Runs up to `count` tasks. Nothing to do where there are threads.
  void RunBackground(std::uint64_t count);
  // Before operation `id`: now and then other values are in memory than before, whatever anybody believes. The same for
  // the same seed and id.
  void MovePages(std::uint64_t id);

  // What listeners were told is what happened, as far as anybody can tell: "" or what is wrong. `compare`: with the
  // files that are there, of a simulated database.
  [[nodiscard]] std::string CheckListeners(bool compare) const;

  // VerifyDB, with every value read, of the files as they are now: "" if it finds nothing wrong. A simulated database
  // may be open meanwhile, since a copy of its files is looked at.
  [[nodiscard]] std::string Verify() const;

 private:
  [[nodiscard]] std::vector<std::string> Paths() const;

  const Config config_;
  const std::string path_;
  Options options_;
  const std::uint64_t seed_ = 0;
  std::uint64_t openings_ = 0;
  std::shared_ptr<SimFileSystem> sim_;
  std::shared_ptr<SimClock> clock_;
  std::shared_ptr<ManualExecutor> executor_;
  std::unique_ptr<DB> db_;
  std::function<void()> on_open_;
  std::shared_ptr<FileWatch> watch_;  // of the last opening; null: nobody listens
};

inline constexpr const char* kSimDatabasePath = "/db";

// VerifyDB of the database in `image`, deep: "" or what it says.
[[nodiscard]] std::string VerifyImage(const SimImage& image, const Options& options);

}  // namespace cambium::testing
