// The commands of the offline tool. Each has its own file, which adds it to the program.
#pragma once

#include <CLI/CLI.hpp>

namespace cambium::tool {

// Exit codes. Scripts rely on the numbers.
enum ExitCode : int {
  kClean = 0,
  kDamage = 1,  // done, but found damage or a difference, or a key does not exist
  kCannot = 2,  // wrong usage, an I/O error, a later format, a comparator that the tool does not have
  // Another process has the database open for writing; if the command writes to the database: has it open at all.
  kLocked = 3,
};

// `*exit_code` is set when the command has run.
void AddVerify(CLI::App* app, int* exit_code);
void AddGet(CLI::App* app, int* exit_code);
void AddPut(CLI::App* app, int* exit_code);
void AddDelete(CLI::App* app, int* exit_code);
void AddScan(CLI::App* app, int* exit_code);
void AddOptions(CLI::App* app, int* exit_code);
void AddCheckpoint(CLI::App* app, int* exit_code);
void AddBackup(CLI::App* app, int* exit_code);
void AddRestore(CLI::App* app, int* exit_code);
void AddExport(CLI::App* app, int* exit_code);
void AddImport(CLI::App* app, int* exit_code);
void AddCompact(CLI::App* app, int* exit_code);
void AddConvert(CLI::App* app, int* exit_code);
void AddStats(CLI::App* app, int* exit_code);
void AddDump(CLI::App* app, int* exit_code);
void AddManifest(CLI::App* app, int* exit_code);
void AddGc(CLI::App* app, int* exit_code);
void AddSalvage(CLI::App* app, int* exit_code);

}  // namespace cambium::tool
