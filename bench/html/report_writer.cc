#include "html/report_writer.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "html/csv.h"
#include "html/page.h"

namespace cambium::bench {
namespace {

namespace fs = std::filesystem;

// In place of what is there, by a rename: whoever reloads the page sees the old one or the new one.
Status WriteFile(const fs::path& path, const std::string& content) {
  const fs::path temporary = path.string() + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) return Status::IOError("cannot write " + temporary.string() + ": " + std::strerror(errno));
  std::error_code error;
  fs::rename(temporary, path, error);
  return error ? Status::IOError("cannot write " + path.string() + ": " + error.message()) : Status();
}

std::string ResultsJson(const std::vector<ReportRun>& runs) {
  std::string text = "[";
  for (const ReportRun& run : runs) {
    for (const Result& result : run.results) text += (text == "[" ? "\n" : ",\n") + ToJson(result, run).dump();
  }
  return text + "\n]\n";
}

Status WritePlots(const fs::path& directory, const AllPlots& plots) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Status::IOError("cannot make " + directory.string() + ": " + error.message());
  for (const fs::directory_entry& old : fs::directory_iterator(directory, error)) {
    if (old.path().extension() == ".svg") fs::remove(old.path(), error);
  }
  for (const Plot* plot : plots.Each()) {
    Status status = WriteFile(directory / (plot->name + ".svg"), DrawStandalone(*plot));
    if (!status.ok()) return status;
  }
  return {};
}

}  // namespace

Status PrepareReport(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Status::IOError("cannot make " + directory + ": " + error.message());
  const fs::path trial = fs::path(directory) / ".cambium_bench_trial";
  Status status = WriteFile(trial, "");
  if (status.ok()) fs::remove(trial, error);
  return status;
}

Status WriteReport(const std::string& directory, const ReportInput& input) {
  Status status = PrepareReport(directory);
  if (!status.ok()) return status;
  const fs::path root = directory;
  const Arrangement arrangement = Arrange(input.runs);
  const AllPlots plots = MakePlots(arrangement);
  status = WriteFile(root / "results.json", ResultsJson(input.runs));
  if (status.ok()) status = WriteFile(root / "results.csv", ToCsv(input.runs));
  if (status.ok()) status = WritePlots(root / "plots", plots);
  if (status.ok()) status = WriteFile(root / "report.html", MakePage(input, arrangement, plots));
  return status;
}

}  // namespace cambium::bench
