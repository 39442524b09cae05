// Benchmarks and options of db_bench that this program does not have, with the reasons to report.
#pragma once

#include <string>

namespace cambium::bench {

// Return null for a name that db_bench does not have either.
const char* WhyAbsent(const std::string& benchmark);
const char* WhyOptionAbsent(const std::string& option);  // "--perf_level"

}  // namespace cambium::bench
