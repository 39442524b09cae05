#include "html/report_writer.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "html/csv.h"
#include "html/page.h"

namespace cambium::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kPlots[] = "plots";
constexpr char kPlotList[] = "plots.txt";

// Replaces a file by a rename, so that a reload of the page shows either the old or the new one.
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
    for (const Result& result : run.results) text += (text == "[" ? "\n" : ",\n") + ResultText(result, run);
  }
  return text + "\n]\n";
}

// Creates the directory, and a file in it, which is removed at once.
Status TryToWriteIn(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Status::IOError("cannot make " + directory.string() + ": " + error.message());
  const fs::path trial = directory / ".cambium_bench_trial";
  Status status = WriteFile(trial, "");
  if (status.ok()) fs::remove(trial, error);
  return status;
}

// Returns the drawings of the last report. Names with a slash are ignored: a report writes none.
std::vector<std::string> DrawnBefore(const fs::path& list) {
  std::vector<std::string> names;
  std::ifstream file(list);
  for (std::string name; std::getline(file, name);) {
    if (name.ends_with(".svg") && name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

Status WritePlots(const fs::path& root, const AllPlots& plots) {
  const fs::path directory = root / kPlots;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return Status::IOError("cannot make " + directory.string() + ": " + error.message());
  for (const std::string& name : DrawnBefore(root / kPlotList)) fs::remove(directory / name, error);
  // The list is written first, so that it always names every drawing of ours.
  std::string list;
  for (const Plot* plot : plots.Each()) list += plot->name + ".svg\n";
  Status status = WriteFile(root / kPlotList, list);
  for (const Plot* plot : plots.Each()) {
    if (status.ok()) status = WriteFile(directory / (plot->name + ".svg"), DrawStandalone(*plot).text());
  }
  return status;
}

}  // namespace

std::string ResultText(const Result& result, const ReportRun& run) {
  return ToJson(result, run).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Status PrepareReport(const std::string& directory) {
  Status status = TryToWriteIn(directory);
  if (!status.ok()) return status;
  const fs::path plots = fs::path(directory) / kPlots;
  std::error_code error;
  const bool was_there = fs::exists(plots, error);
  status = TryToWriteIn(plots);
  if (!was_there) fs::remove(plots, error);
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
  if (status.ok()) status = WritePlots(root, plots);
  if (status.ok()) status = WriteFile(root / "report.html", MakePage(input, arrangement, plots));
  return status;
}

}  // namespace cambium::bench
