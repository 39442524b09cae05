// What `cambium verify` found, as text for people and as JSON for programs.
#pragma once

#include <string>

#include "cambium/db.h"
#include "command.h"

namespace cambium::tool {

struct VerifyOutcome {
  std::string path;
  std::string comparator;  // the name of the one that was asked for; "": whichever the database has
  bool deep = false;
  Status options;  // OK if an OPTIONS file told them
  WALRecoveryMode recovery_mode = {};  // by which damage of the log was judged
  Status status;        // OK if the check could be made to its end, whatever it found
  VerifyReport report;  // as far as the check came
};

// Damage that was found is certain, also if the check could not be made to its end.
[[nodiscard]] ExitCode ExitCodeOf(const VerifyOutcome& outcome);

// Several lines, the last one ended.
[[nodiscard]] std::string DrawText(const VerifyOutcome& outcome);

// One object and an end of line. Bytes that are not UTF-8 (in names of files) are replaced.
[[nodiscard]] std::string DrawJson(const VerifyOutcome& outcome);

}  // namespace cambium::tool
