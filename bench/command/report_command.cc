#include "command/report_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "html/report_writer.h"
#include "html/result_files.h"

namespace cambium::bench {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int Fail(const Status& status, int code) {
  std::fprintf(stderr, "cambium_bench: %s\n", status.ToString().c_str());
  return code;
}

int MakeReport(const std::vector<std::string>& files, const std::string& directory) {
  ReportInput input;
  for (const std::string& file : files) {
    if (const Status status = ReadResults(file, &input.runs); !status.ok()) return Fail(status, kExitUsage);
  }
  if (input.runs.empty()) return Fail(Status::InvalidArgument("these files have no results"), kExitUsage);
  input.claims = JudgeClaims(AllResults(input.runs));
  if (const Status status = WriteReport(directory, input); !status.ok()) return Fail(status, kExitFailed);
  std::printf("Report:     %s/report.html\n", directory.c_str());
  return 0;
}

}  // namespace

bool IsReportCommand(int argc, char** argv) { return argc > 1 && argv[1] == std::string("report"); }

int RunReportCommand(int argc, char** argv) {
  std::vector<std::string> files;
  std::string directory;
  CLI::App app("Makes a report from results that earlier runs wrote with --json or --report.", "cambium_bench report");
  app.add_option("--json", files, "results of earlier runs; several files make one report")
      ->required()
      ->delimiter(',')
      ->option_text("FILE... REQUIRED");
  app.add_option("--report", directory, "directory for the report; created if needed")
      ->required()
      ->option_text("DIR REQUIRED");
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  try {
    return MakeReport(files, directory);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cambium_bench: cannot make a report from these files: %s\n", error.what());
    return kExitFailed;
  }
}

}  // namespace cambium::bench
