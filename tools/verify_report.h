// The findings of `cambium verify`, as text for people and as JSON for programs.
#pragma once

#include <cstddef>
#include <string>

#include "cambium/db.h"
#include "command.h"

namespace cambium::tool {

struct VerifyOutcome {
  std::string path;
  std::string comparator;  // the comparator that --comparator requires; empty: any
  bool deep = false;
  Status options;  // OK if they were read from an OPTIONS file
  WALRecoveryMode recovery_mode = {};  // decides which damage of the log counts
  Status status;        // OK if the check ran to its end, whatever it found
  VerifyReport report;  // complete only if status is OK
  std::size_t prepared = 0;  // transactions, if status is OK and there are no problems
};

// Damage that was found is certain, even if the check did not run to its end.
[[nodiscard]] ExitCode ExitCodeOf(const VerifyOutcome& outcome);

// Several lines, the last one with a line end.
[[nodiscard]] std::string DrawText(const VerifyOutcome& outcome);

// One object and a line end. Bytes that are not UTF-8 (in file names) are replaced.
[[nodiscard]] std::string DrawJson(const VerifyOutcome& outcome);

}  // namespace cambium::tool
