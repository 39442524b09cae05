// Where a run took place: what must be known to compare its figures with another's.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::bench {

struct Environment {
  std::string commit;       // of this project, "+" behind it if files were changed
  std::string build;        // compiler and build type
  std::string cpu;          // model and number
  std::string kernel;
  std::string memory;
  std::string file_system;  // type and device of the directory of the databases
};

// Of the machine; 0 where it is not known.
std::uint64_t MemoryBytes();
Environment DescribeEnvironment(const std::string& directory);

}  // namespace cambium::bench
