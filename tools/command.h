// The commands of the offline tool. Each has a file of its own, which adds it to the program.
#pragma once

#include <CLI/CLI.hpp>

namespace cambium::tool {

// What the program ends with. Scripts rely on the numbers.
enum ExitCode : int {
  kClean = 0,
  kDamage = 1,  // the check was made, and found damage
  kCannot = 2,  // wrong usage, an I/O error, a later format, a comparator that the tool does not have
  kLocked = 3,  // somebody has the database open for writing
};

// `*exit_code` is set when the command has run.
void AddVerify(CLI::App* app, int* exit_code);

}  // namespace cambium::tool
