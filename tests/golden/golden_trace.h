// A golden trace: v1/every_record.trace has each type of record, as version 1 of traces has it.
#pragma once

#include <string>

namespace cambium::testing {

// The bytes that this version writes of these operations.
[[nodiscard]] std::string WriteGoldenTrace();

}  // namespace cambium::testing
