// ProgramDatabase: a database with the Config of a program (testing/program/program.h), on which a Runner runs the
// program. It is in a simulated file system with tasks that run on demand, or in a real directory with threads. The seed
// decides which filter and buffers each Open has, and in a simulated file system a wait that nothing could end throws
// Stuck.
// A test that makes its own calls with options of its own uses TestStore (testing/test_store.h).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cambium/db.h"
#include "io/sim/sim_clock.h"
#include "io/sim/sim_file_system.h"
#include "testing/files/file_watch.h"
#include "testing/program/program.h"
#include "util/manual_executor.h"

namespace cambium::testing {

// The executor of a ProgramDatabase throws it if a call of the database is about to block and no task is left that
// could wake it. With one thread it would block for ever. The database must then be abandoned.
struct Stuck {};

class ProgramDatabase {
 public:
  // All random choices come from `seed`.
  ProgramDatabase(const Config& config, std::shared_ptr<SimFileSystem> fs, std::uint64_t seed);
  ProgramDatabase(const Config& config, std::string path);
  ~ProgramDatabase();
  ProgramDatabase(const ProgramDatabase&) = delete;
  ProgramDatabase& operator=(const ProgramDatabase&) = delete;

  Status Open();
  // Called at the beginning of each Open.
  void OnOpen(std::function<void()> f) { on_open_ = std::move(f); }
  // Closes and destroys the database. Returns the status of Close.
  Status Close();
  // Destroys the database without Close.
  void Drop() { db_.reset(); }
  // Leaks the database: after Stuck, its destructor would block too.
  void Abandon();

  // The write_buffer_size that the next Open uses.
  [[nodiscard]] std::size_t next_write_buffer_size() const { return WriteBufferOfOpen(open_count_ + 1); }
  // Whether the database has the filter of the program since the last Open.
  [[nodiscard]] bool has_filter() const { return has_filter_; }
  [[nodiscard]] DB* get() const { return db_.get(); }
  DB* operator->() const { return db_.get(); }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] SimFileSystem* sim() const { return sim_.get(); }  // null in a real directory
  [[nodiscard]] SimClock* clock() const { return clock_.get(); }
  // Runs up to `count` tasks. Does nothing in a real directory, where threads run them.
  void RunBackground(std::uint64_t count);
  // Call it before operation `id`. Now and then it changes which values are in the page cache, without the engine's
  // knowledge. Depends only on the seed and `id`.
  void MovePages(std::uint64_t id);

  // Checks the events that listeners got. Returns "", or what is wrong. With `compare`, also compares them with the
  // files that exist. Only for a simulated database.
  [[nodiscard]] std::string CheckListeners(bool compare) const;

  // Checks the invariants of the database's state (state/check_invariants.h). Returns "", or the one that does not
  // hold.
  [[nodiscard]] std::string CheckInvariants() const;
  // Reads all layers, and compares the accounts with them. Returns "", or what is wrong.
  [[nodiscard]] std::string CheckAccounts() const;

  // Runs a deep VerifyDB on the files as they are now. Returns "" if nothing is wrong. A simulated database may be
  // open: a copy of its files is verified.
  [[nodiscard]] std::string Verify() const;

 private:
  [[nodiscard]] std::vector<std::string> Paths() const;
  void DrawFilterOfThisLife();
  [[nodiscard]] std::size_t WriteBufferOfOpen(std::uint64_t open) const;

  const Config config_;
  const std::string path_;
  Options options_;
  const std::uint64_t seed_ = 0;
  std::uint64_t open_count_ = 0;
  bool has_filter_ = false;
  std::shared_ptr<SimFileSystem> sim_;
  std::shared_ptr<SimClock> clock_;
  std::shared_ptr<ManualExecutor> executor_;
  std::unique_ptr<DB> db_;
  std::function<void()> on_open_;
  std::shared_ptr<FileWatch> watch_;  // since the last Open; null: no listener
};

inline constexpr const char* kSimDatabasePath = "/db";

// Runs a deep VerifyDB on the database in `image`. Returns "", or what is wrong.
[[nodiscard]] std::string VerifyImage(const SimImage& image, const Options& options);

}  // namespace cambium::testing
