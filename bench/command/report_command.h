// cambium_bench report: makes a report from the JSON of earlier runs.
#pragma once

namespace cambium::bench {

// Returns whether the program is called with this command.
bool IsReportCommand(int argc, char** argv);

// Runs the command and returns the exit code.
int RunReportCommand(int argc, char** argv);

}  // namespace cambium::bench
