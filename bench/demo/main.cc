// cambium_demo: shows Cambium's main job with real data. Every regular file below a folder becomes a key, its path, and
// a value, its bytes. They are loaded, read back and compared with the files, scanned, and partly overwritten and
// deleted. Then a writing process is killed several times, and everything is checked again. The demo runs first with a
// tree as the index, then with an LSM. It exits with 0 if every check held, 1 if not, 2 if it cannot start.
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cambium/db.h"
#include "data/mix.h"
#include "demo/crash.h"
#include "demo/file_list.h"
#include "demo/step_table.h"
#include "system/process_stats.h"

namespace cambium::demo {
namespace {

constexpr std::size_t kBatchBytes = 1u << 20;
constexpr std::size_t kOverwriteEach = 5;  // every fifth key gets the bytes of the next file
constexpr std::size_t kDeleteEach = 7;     // every seventh key is deleted
constexpr int kKills = 5;

struct Flags {
  std::string folder = "/usr/share";
  std::string index = "both";
  std::uint64_t max_mib = 2048;
  std::string db;
  std::uint64_t seed = 1;
};

std::string Count(std::uint64_t n, const char* of_what) { return std::to_string(n) + " " + of_what; }

class Demo {
 public:
  Demo(const Flags& flags, const std::string& index, std::string path)
      : flags_(flags), prefix_(flags.folder == "/" ? "/" : flags.folder + "/"), path_(std::move(path)) {
    options_.index_type = index == "lsm" ? IndexKind::kLsm : IndexKind::kBTree;
    // Small buffers, so that a folder of files leads to runs, sweeps and compactions.
    options_.write_buffer_size = 1u << 20;
    options_.target_file_size_base = 256u << 10;
    options_.max_bytes_for_level_base = 1u << 20;
    options_.create_if_missing = true;
    options_.lock_wait_micros = 5'000'000;  // a killed process may hold its lock until the kernel has cleaned up
  }

  // Runs the steps, and stops at the first one that fails.
  bool Run() {
    const bool ok = table_.Run("files", [this] { return ListAndReadFiles(); }) &&
                    table_.Run("open", [this] { return Open("an empty database"); }) &&
                    table_.Run("load", [this] { return Load(); }) &&
                    table_.Run("settle", [this] { return Settle(); }) &&
                    table_.Run("read back", [this] { return ReadBack(); }) &&
                    table_.Run("scan", [this] { return ScanPrefix(); }) &&
                    table_.Run("overwrite", [this] { return Overwrite(); }) &&
                    table_.Run("delete", [this] { return Delete(); }) &&
                    table_.Run("check", [this] { return CheckAll(); }) &&
                    table_.Run("kill -9", [this] { return KillAndReopen(); }) &&
                    table_.Run("check", [this] { return CheckAll(); }) &&
                    table_.Run("close", [this] { return Close(); }) &&
                    table_.Run("verify", [this] { return Verify(); });
    if (!ok) std::printf("A CHECK FAILED. The database is left in %s\n", path_.c_str());
    return ok;
  }

  [[nodiscard]] const StepTable& table() const { return table_; }
  [[nodiscard]] std::string DiskUse() const {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "%.1f MB on disk held %.1f MB of keys and values when files were loaded, overwritten and deleted",
                  static_cast<double>(disk_bytes_) / 1e6, static_cast<double>(LiveBytes()) / 1e6);
    return text;
  }

 private:
  // Stands in content_ for a deleted key.
  static constexpr std::size_t kDeleted = ~std::size_t{0};

  // Reads every file once. That warms the page cache, so that the load measures the database, not the disk of the
  // files.
  StepReport ListAndReadFiles() {
    StepReport report;
    files_ = ListFiles(flags_.folder, flags_.max_mib << 20);
    std::string bytes;
    for (const FileEntry& file : files_.files) {
      if (!ReadWholeFile(file.path, &bytes)) continue;
      report.bytes += bytes.size();
    }
    content_.resize(files_.files.size());
    for (std::size_t i = 0; i < content_.size(); ++i) content_[i] = i;
    report.what = Count(files_.files.size(), "files read once");
    if (files_.skipped > 0) report.what += ", " + Count(files_.skipped, "left out: beyond --max_mib or not readable");
    if (files_.files.empty()) report.status = Status::InvalidArgument("no file to read below " + flags_.folder);
    return report;
  }

  StepReport Open(std::string what) {
    StepReport report{.what = std::move(what)};
    report.status = DB::Open(options_, path_, &db_);
    return report;
  }

  StepReport Close() {
    StepReport report{.what = "sync the log, stop background work"};
    report.status = db_->Close();
    db_.reset();
    return report;
  }

  StepReport Load() {
    StepReport report{.what = "batches of 1 MB, not synced; then SyncWAL"};
    WriteBatch batch;
    std::string bytes;
    for (const FileEntry& file : files_.files) {
      if (!report.status.ok()) break;
      if (!ReadWholeFile(file.path, &bytes)) {
        report.status = Status::IOError("cannot read " + file.path + " any more");
        break;
      }
      report.bytes += file.path.size() + bytes.size();
      report.status = batch.Put(file.path, bytes);
      if (report.status.ok() && batch.GetDataSize() >= kBatchBytes) report.status = Commit(&batch);
    }
    if (report.status.ok()) report.status = Commit(&batch);
    if (report.status.ok()) report.status = db_->SyncWAL();
    return report;
  }

  Status Commit(WriteBatch* batch) {
    Status status = db_->Write(WriteOptions(), batch);
    batch->Clear();
    return status;
  }

  StepReport Settle() {
    StepReport report{.what = "flush, wait for the background"};
    report.status = db_->Flush(FlushOptions());
    if (report.status.ok()) report.status = db_->WaitForCompact();
    if (report.status.ok()) report.what = "flush and wait: " + DescribeIndex();
    return report;
  }

  // Returns "12 flushes, 2 merges, 3 sweeps, runs: 1".
  std::string DescribeIndex() {
    std::map<std::string, std::string> stats;
    if (!db_->GetMapProperty("cambium.index-stats", &stats)) return "unknown";
    const bool is_lsm = stats["index"] == "lsm";
    const std::string merges = is_lsm ? stats["compactions"] + " compactions"
                                      : stats["straight_merges"] + " merges, " + stats["sweeps"] + " sweeps";
    return stats["flushes"] + " flushes, " + merges + ", runs: " + stats["runs"];
  }

  // Compares a value with the file it was made from. If a file changes during the demo, this reports an error.
  Status Compare(const std::string& key, Slice value, std::size_t file) {
    const std::string& path = files_.files[file].path;
    if (!ReadWholeFile(path, &expected_)) return Status::IOError("cannot read " + path + " any more");
    if (value == Slice(expected_)) return {};
    return Status::Corruption("the value of " + key + " differs from the bytes of " + path);
  }

  StepReport ReadBack() {
    StepReport report{.what = "Get of every key, compared byte by byte with the file"};
    PinnableSlice value;
    for (std::size_t i = 0; i < files_.files.size() && report.status.ok(); ++i) {
      const std::string& key = files_.files[i].path;
      value.Reset();
      report.status = db_->Get(ReadOptions(), key, &value).WithContext(key);
      if (report.status.ok()) report.status = Compare(key, value, i);
      report.bytes += key.size() + value.size();
    }
    return report;
  }

  // Returns the directory with the most files, of those directly below the folder; the folder itself if there is none.
  [[nodiscard]] std::string LargestPrefix() const {
    std::map<std::string, std::size_t> files_below;
    for (const FileEntry& file : files_.files) {
      const std::size_t slash = file.path.find('/', prefix_.size());
      if (slash != std::string::npos) ++files_below[file.path.substr(0, slash + 1)];
    }
    const auto largest = std::max_element(files_below.begin(), files_below.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    return largest == files_below.end() ? prefix_ : largest->first;
  }

  // Walks the keys with a prefix, without values, and compares them with a new listing of the directory of this name.
  StepReport ScanPrefix() {
    const std::string prefix = LargestPrefix();
    std::vector<std::string> expected;
    for (FileEntry& file : ListFiles(prefix, ~std::uint64_t{0}).files) {
      // Only files that were loaded: --max_mib may have excluded others.
      const auto at = std::lower_bound(files_.files.begin(), files_.files.end(), file.path,
                                       [](const FileEntry& a, const std::string& b) { return a.path < b; });
      if (at != files_.files.end() && at->path == file.path) expected.push_back(std::move(file.path));
    }
    StepReport report{.what = Count(expected.size(), "keys below ") + prefix + " as the directory has them"};
    std::string upper = prefix;
    upper.back() = '/' + 1;
    const Slice upper_bound = upper;
    ReadOptions read;
    read.iterate_upper_bound = &upper_bound;
    read.allow_unprepared_value = true;  // only keys are compared
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(read));
    std::size_t seen = 0;
    for (iterator->Seek(prefix); iterator->Valid() && report.status.ok(); iterator->Next(), ++seen) {
      if (seen >= expected.size() || iterator->key() != Slice(expected[seen])) {
        report.status = Status::Corruption("the walk shows " + iterator->key().ToString() +
                                           " where the directory has " +
                                           (seen < expected.size() ? expected[seen] : "nothing more"));
      }
    }
    if (report.status.ok()) report.status = iterator->status();
    if (report.status.ok() && seen != expected.size()) {
      report.status = Status::Corruption("the walk misses " + expected[seen]);
    }
    return report;
  }

  StepReport Overwrite() {
    StepReport report;
    WriteBatch batch;
    std::string bytes;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < content_.size() && report.status.ok(); i += kOverwriteEach) {
      const std::string& key = files_.files[i].path;
      content_[i] = (i + 1) % content_.size();
      if (!ReadWholeFile(files_.files[content_[i]].path, &bytes)) {
        report.status = Status::IOError("cannot read " + files_.files[content_[i]].path + " any more");
        break;
      }
      ++count;
      report.bytes += key.size() + bytes.size();
      report.status = batch.Put(key, bytes);
      if (report.status.ok() && batch.GetDataSize() >= kBatchBytes) report.status = Commit(&batch);
    }
    if (report.status.ok()) report.status = Commit(&batch);
    if (report.status.ok()) report.status = db_->SyncWAL();
    report.what = Count(count, "keys with the bytes of the next file");
    return report;
  }

  StepReport Delete() {
    StepReport report;
    std::uint64_t count = 0;
    for (std::size_t i = 3; i < content_.size() && report.status.ok(); i += kDeleteEach) {
      report.status = db_->Delete(WriteOptions(), files_.files[i].path);
      content_[i] = kDeleted;
      ++count;
    }
    if (report.status.ok()) report.status = db_->SyncWAL();
    report.what = Count(count, "keys");
    return report;
  }

  // Checks that a walk shows exactly the expected keys, in order, with their bytes, and that Get finds no deleted key.
  StepReport CheckAll() {
    StepReport report;
    const std::unique_ptr<Iterator> iterator(db_->NewIterator(ReadOptions()));
    std::uint64_t keys = 0;
    iterator->Seek(prefix_);
    for (std::size_t i = 0; i < content_.size() && report.status.ok(); ++i) {
      const std::string& key = files_.files[i].path;
      if (content_[i] == kDeleted) {
        std::string value;
        const Status got = db_->Get(ReadOptions(), key, &value);
        if (!got.IsNotFound()) report.status = got.ok() ? Status::Corruption(key + " was deleted, but exists") : got;
        continue;
      }
      if (!iterator->Valid()) {
        report.status = iterator->status().ok() ? Status::Corruption(key + " is lost") : iterator->status();
      } else if (iterator->key() != Slice(key)) {
        report.status = Status::Corruption("the walk shows " + iterator->key().ToString() + " instead of " + key);
      } else {
        const Slice value = iterator->value();
        report.status = Compare(key, value, content_[i]);
        if (!iterator->status().ok()) report.status = iterator->status();
        report.bytes += key.size() + value.size();
        ++keys;
        if (report.status.ok()) iterator->Next();
      }
    }
    if (report.status.ok() && iterator->Valid() && iterator->key().starts_with(prefix_)) {
      report.status = Status::Corruption("the walk shows " + iterator->key().ToString() + ", which must not exist");
    }
    report.what = "a walk over " + Count(keys, "keys and values; deleted ones are gone");
    return report;
  }

  StepReport KillAndReopen() {
    StepReport report;
    std::uint64_t acknowledged = 0;
    std::uint64_t survivors = 0;
    for (int i = 0; i < kKills && report.status.ok(); ++i) {
      report.status = db_->Close();
      db_.reset();
      if (!report.status.ok()) break;
      if (i == 0) disk_bytes_ = bench::DiskBytes(path_);
      Crash crash;
      const std::uint64_t after = 100'000 + bench::Mix(flags_.seed, static_cast<std::uint64_t>(i)) % 400'000;
      report.status = WriteAndKill(options_, path_, survivors, after, &crash);
      acknowledged = survivors + crash.acknowledged;
      report.bytes += crash.bytes;
      if (report.status.ok()) report.status = DB::Open(options_, path_, &db_);
      if (report.status.ok()) report.status = CheckBatches(db_.get(), acknowledged, &survivors);
      if (report.status.ok() && survivors > acknowledged + 1) {
        report.status = Status::Corruption("more batches than were begun");
      }
    }
    report.what = Count(kKills, "kills; ") + Count(survivors, "synced batches whole, none in part");
    return report;
  }

  StepReport Verify() {
    StepReport report;
    VerifyReport verified;
    report.status = VerifyDB(path_, options_, VerifyOptions{.deep = true}, &verified);
    report.bytes = verified.bytes_read;
    report.what = "VerifyDB deep: " + Count(verified.files, "files, ") + Count(verified.entries, "entries");
    if (report.status.ok() && !verified.problems.empty()) {
      report.status = Status::Corruption(std::to_string(verified.problems.size()) + " problems, first: " +
                                         verified.problems.front());
    }
    return report;
  }

  // Returns the bytes of the existing keys and their values.
  [[nodiscard]] std::uint64_t LiveBytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < content_.size(); ++i) {
      if (content_[i] != kDeleted) bytes += files_.files[i].path.size() + files_.files[content_[i]].size;
    }
    return bytes;
  }

  Flags flags_;
  std::string prefix_;  // every key begins with it
  std::string path_;
  Options options_;
  StepTable table_;
  FileList files_;
  std::vector<std::size_t> content_;  // for each key of files_: the index of the file whose bytes it has, or kDeleted
  std::string expected_;
  std::unique_ptr<DB> db_;
  std::uint64_t disk_bytes_ = 0;  // before the first child writes
};

// Runs the demo with one index after the other, then prints both side by side.
bool RunAll(const Flags& flags, const std::string& root) {
  std::vector<std::pair<std::string, std::unique_ptr<Demo>>> demos;
  bool ok = true;
  for (const char* index : {"btree", "lsm"}) {
    if (!ok || (flags.index != "both" && flags.index != index)) continue;
    const std::string path = root + "/" + index;
    std::printf("%s%s:\n", demos.empty() ? "" : "\n", index);
    demos.emplace_back(index, std::make_unique<Demo>(flags, index, path));
    ok = demos.back().second->Run();
    std::error_code ignored;
    if (ok && flags.db.empty()) std::filesystem::remove_all(path, ignored);
  }
  std::vector<StepTable::Column> columns;
  for (const auto& [index, demo] : demos) columns.push_back({index, &demo->table()});
  std::printf("\n%s\n", StepTable::Draw(columns).c_str());
  if (!ok) return false;
  for (const auto& [index, demo] : demos) std::printf("%s: %s.\n", index.c_str(), demo->DiskUse().c_str());
  std::printf("Every check held.\n");
  return true;
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // if the reader of the output goes away, the databases are removed all the same
  Flags flags;
  CLI::App app("Loads every file below a folder into a database, and checks that the database keeps them.");
  app.add_option("folder", flags.folder, "the folder whose files are the data")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--max_mib", flags.max_mib, "most MiB of files to load")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 30))
      ->capture_default_str();
  app.add_option("--index", flags.index, "btree, lsm, or both one after the other")
      ->check(CLI::IsMember({"btree", "lsm", "both"}))
      ->capture_default_str();
  app.add_option("--db", flags.db,
                 "an empty directory for the databases, which stay; default: a temporary one, removed at the end");
  app.add_option("--seed", flags.seed, "seed of the moments of the kills")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  while (flags.folder.size() > 1 && flags.folder.back() == '/') flags.folder.pop_back();

  namespace fs = std::filesystem;
  std::error_code error;
  std::string root = flags.db;
  if (flags.db.empty()) {
    root = (fs::temp_directory_path(error) / "cambium_demo-XXXXXX").string();
    if (error || mkdtemp(root.data()) == nullptr) {
      std::fprintf(stderr, "cambium_demo: cannot create %s\n", root.c_str());
      return 2;
    }
  } else if (fs::create_directories(root, error); error || !fs::is_empty(root, error)) {
    std::fprintf(stderr, "cambium_demo: %s is not an empty directory\n", root.c_str());
    return 2;
  }
  const bool ok = RunAll(flags, root);
  if (flags.db.empty() && ok) fs::remove_all(root, error);
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace cambium::demo

int main(int argc, char** argv) { return cambium::demo::Main(argc, argv); }
