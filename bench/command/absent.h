// Names of db_bench that this program does not have, and why: said to whoever asks for one.
#pragma once

#include <string>

namespace cambium::bench {

// Null if nobody would ask for it.
const char* WhyAbsent(const std::string& benchmark);
const char* WhyOptionAbsent(const std::string& option);  // "--perf_level"

}  // namespace cambium::bench
