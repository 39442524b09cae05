// Golden databases: small directories that this or an earlier version wrote. Every later version must open and read
// them.
//
// A case is a sequence of steps on a simulated machine with a fixed clock and seeded random numbers, so that writing it
// twice gives the same bytes. Its files are in v<format>/<name>.golden (archive.h), and v<format>/<name>.expected has
// one line for each key: key, size of the value, XXH3 of the value in hexadecimal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "golden/archive.h"
#include "testing/test_store.h"

namespace cambium::testing {

struct GoldenCase {
  const char* name;
  // True if this version writes exactly the bytes of the archive, except for OPTIONS files. False if the bytes depend
  // on the version of a compression library, or if a change of policy has changed them since the archive was written.
  bool is_reproducible;
  // Sets the options with which the database is created and opened.
  void (*set)(Options* options);
  // Writes the database; `expected` receives its contents. On return the store is closed, or crashed.
  void (*write)(TestStore* store, std::map<std::string, std::string>* expected);
};
[[nodiscard]] const std::vector<GoldenCase>& GoldenCases();

// Returns a store with the options of the case.
[[nodiscard]] std::unique_ptr<TestStore> GoldenStore(const GoldenCase& c);
// Runs the steps of the case and returns its files.
[[nodiscard]] GoldenFiles WriteGolden(const GoldenCase& c, std::map<std::string, std::string>* expected);

// Returns "key size checksum\n" for each pair.
[[nodiscard]] std::string ExpectedText(const std::map<std::string, std::string>& pairs);

}  // namespace cambium::testing
