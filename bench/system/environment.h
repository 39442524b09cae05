// Environment: what must be known of a build and a machine to compare their figures with others.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::bench {

struct Environment {
  std::string commit;       // of this project, with "+" appended if files were changed
  std::string build;        // compiler and build type
  std::string cpu;          // model and number
  std::string kernel;
  std::string memory;
  std::string file_system;  // type and device of the directory of the databases
};

// Returns the memory of the machine; 0 if it is unknown.
std::uint64_t MemoryBytes();
// `directory`: where the databases are.
Environment DescribeEnvironment(const std::string& directory);

}  // namespace cambium::bench
