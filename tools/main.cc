// cambium: commands for databases that no process has open. The tool reads databases through the library's own
// decoders.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "interrupt.h"
#include "number_flags.h"
#include "output.h"

namespace cambium::tool {
namespace {

// Returns the word that was given where a command is required, or nothing. The parser only says that one is required.
std::string NoCommand(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  if (app->get_require_subcommand_min() == 0) return {};
  const std::vector<std::string> rest = app->remaining();
  const auto word = std::ranges::find_if(rest, [](const std::string& each) { return !each.starts_with('-'); });
  return word == rest.end() ? std::string() : *word;
}

int FailToParse(const CLI::App& app, const CLI::ParseError& error, bool json) {
  if (error.get_exit_code() == 0) {  // --help
    const int exit_code = app.exit(error);
    return std::cout.flush() ? exit_code : int{OutputFailed()};
  }
  const std::string word = NoCommand(&app);
  const std::string what = word.empty() ? error.what() : "there is no command \"" + word + "\"";
  return FailUsage(what + "; see --help", json);
}

}  // namespace
}  // namespace cambium::tool

int main(int argc, char** argv) {
  using namespace cambium::tool;
  int exit_code = kCannot;
  const auto is_json = [&] { return std::find(argv, argv + argc, std::string_view("--json")) != argv + argc; };
  try {
    CLI::App app("Inspects, checks and maintains Cambium databases that no process has open for writing.", "cambium");
    app.require_subcommand(1);
    app.set_version_flag("--version", "cambium " CAMBIUM_VERSION);
    app.footer("Exit codes: 0 clean, 1 damage or a difference, 2 failed, 3 the database is open elsewhere.");
    for (const auto add : {AddVerify, AddGet, AddPut, AddDelete, AddScan, AddOptions, AddCheckpoint, AddBackup, AddCompact,
                           AddConvert, AddSalvage, AddRestore, AddExport, AddImport, AddStats, AddDump, AddManifest, AddGc}) {
      add(&app, &exit_code);
    }
    cambium::RejectOddNumbers(&app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return FailToParse(app, e, is_json());
    }
  } catch (const Interrupted& e) {
    static_cast<void>(FailUsage("interrupted" + (e.left.empty() ? "" : ": " + e.left), is_json()));
    Interrupts::Die();
  } catch (const std::exception& e) {  // out of memory, or a standard stream that cannot be written
    std::fprintf(stderr, "cambium: %s\n", e.what());
    return kCannot;
  }
  return exit_code;
}
