// cambium: looks after databases that nobody has open. It reads through the same decoders as the library.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "command.h"

int main(int argc, char** argv) {
  using namespace cambium::tool;
  int exit_code = kCannot;
  try {
    CLI::App app("Looks after Cambium databases that nobody has open for writing.", "cambium");
    app.require_subcommand(1);
    app.set_version_flag("--version", "cambium " CAMBIUM_VERSION);
    app.footer("Exit codes: 0 clean, 1 damage or a difference, 2 cannot be done, 3 the database is open elsewhere.");
    for (const auto add : {AddVerify, AddGet, AddPut, AddDelete, AddScan, AddOptions, AddCheckpoint, AddBackup,
                           AddRestore, AddExport, AddImport, AddCompact, AddConvert, AddStats, AddDump, AddManifest,
                           AddGc}) {
      add(&app, &exit_code);
    }
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      return app.exit(e) == 0 ? kClean : kCannot;  // --help is an "error" of code 0
    }
  } catch (const std::exception& e) {  // memory, or a standard stream that cannot be written
    std::fprintf(stderr, "cambium: %s\n", e.what());
    return kCannot;
  }
  return exit_code;
}
