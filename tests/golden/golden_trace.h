// A golden trace: v1/every_record.trace has a record of each type, in version 1 of the trace format.
#pragma once

#include <string>

namespace cambium::testing {

// Records the golden trace's operations, and returns the bytes that this version writes.
[[nodiscard]] std::string WriteGoldenTrace();

}  // namespace cambium::testing
