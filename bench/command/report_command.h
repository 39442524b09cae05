// cambium_bench report: makes a report again, from the JSON of earlier runs.
#pragma once

namespace cambium::bench {

// Whether the program is called with this command.
bool IsReportCommand(int argc, char** argv);

// Returns the exit code.
int RunReportCommand(int argc, char** argv);

}  // namespace cambium::bench
