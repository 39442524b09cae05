// Writes the golden databases and the golden trace in the format of this version: make_golden DIRECTORY, which is
// tests/golden/v1 for format 1. Run it once, when a format or a case is new. The files of a released format are never
// written again: they show that a later version still reads what an earlier one wrote.
#include <cstdio>
#include <fstream>

#include "golden/golden_case.h"
#include "golden/golden_trace.h"

int main(int argc, char** argv) {
  using namespace cambium::testing;
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_golden DIRECTORY\n");
    return 2;
  }
  const std::string directory = argv[1];
  for (const GoldenCase& c : GoldenCases()) {
    std::map<std::string, std::string> expected;
    const std::string archive = PackGolden(WriteGolden(c, &expected));
    std::ofstream(directory + "/" + c.name + ".golden", std::ios::binary) << archive;
    std::ofstream(directory + "/" + c.name + ".expected", std::ios::binary) << ExpectedText(expected);
    std::printf("%s: %zu bytes\n", c.name, archive.size());
  }
  std::ofstream(directory + "/every_record.trace", std::ios::binary) << WriteGoldenTrace();
  return ::testing::Test::HasFailure() ? 1 : 0;
}
