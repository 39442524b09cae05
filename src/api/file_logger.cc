#include "api/file_logger.h"

#include "manifest/file_names.h"
#include "util/meter.h"
#include "util/mutex.h"

namespace cambium {
namespace {

class Null final : public Logger {
 public:
  void Log(InfoLogLevel, Slice) override {}
};

class FileLogger final : public Logger {
 public:
  FileLogger(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock, std::shared_ptr<Statistics> statistics,
             std::unique_ptr<File> file)
      : fs_(std::move(fs)),
        clock_(std::move(clock)),
        statistics_(std::move(statistics)),
        meter_(statistics_.get(), clock_.get()),
        file_(std::move(file)) {}

  void Log(InfoLogLevel level, Slice line) override {
    static constexpr const char* kLevels[] = {"debug", "info", "warn", "error"};
    std::string text = std::to_string(clock_->WallSeconds());
    text += ' ';
    text += kLevels[static_cast<int>(level)];
    text += ' ';
    text.append(line.data(), line.size());
    text += '\n';
    const MutexLock lock(mutex_);
    meter_.Tick(FILE_BYTES_OTHER, text.size());
    if (file_->Write(size_, text).ok()) size_ += text.size();
  }

 private:
  const std::shared_ptr<FileSystem> fs_;  // outlives the file
  const std::shared_ptr<Clock> clock_;
  const std::shared_ptr<Statistics> statistics_;  // meter_ refers to it; the logger may outlive the database
  const Meter meter_;
  Mutex mutex_;
  const std::unique_ptr<File> file_;
  std::uint64_t size_ CAMBIUM_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::shared_ptr<Logger> NullLogger() { return std::make_shared<Null>(); }

std::shared_ptr<Logger> NewFileLogger(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock,
                                      const std::string& directory, std::shared_ptr<Statistics> statistics) {
  const std::string path = directory + "/" + std::string(kInfoLogFileName);
  FileInfo info;
  if (fs->GetInfo(path, &info).ok() && !fs->Rename(path, path + ".old").ok()) return NullLogger();
  std::unique_ptr<File> file;
  if (!fs->Open(path, OpenMode::kCreateNew, {}, &file).ok()) return NullLogger();
  return std::make_shared<FileLogger>(std::move(fs), std::move(clock), std::move(statistics), std::move(file));
}

}  // namespace cambium
