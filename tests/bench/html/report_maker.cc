// Writes made-up results as --json does, and makes a report of them as `cambium_bench report` does, for
// browser_script.sh.
//
// report_maker DIR     leaves DIR/results.jsonl and DIR/report/
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/html/sample_results.h"
#include "command/report_command.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string directory = argv[1];
  std::filesystem::create_directories(directory);
  const std::string lines = directory + "/results.jsonl";
  {
    std::ofstream file(lines);
    for (const auto& run : cambium::bench::MakeRuns()) {
      for (const auto& result : run.results) file << cambium::bench::ToJson(result, run).dump() << "\n";
    }
    if (!file) return 1;
  }
  std::string json = "--json=" + lines;
  std::string report = "--report=" + directory + "/report";
  std::string program = argv[0];
  std::string command = "report";
  char* arguments[] = {program.data(), command.data(), json.data(), report.data(), nullptr};
  return cambium::bench::RunReportCommand(4, arguments);
}
