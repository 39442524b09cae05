// Tests that docs/format/example.md shows the bytes that this version writes. With CAMBIUM_REWRITE_DOCS=1 in the
// environment, the test writes its dumps into the document and keeps the text between them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "golden/format_example.h"

namespace cambium::testing {
namespace {

TEST(FormatExampleTest, DocumentShowsTheBytesOfThisVersion) {
  const std::string path = CAMBIUM_FORMAT_EXAMPLE;
  std::stringstream document;
  {
    std::ifstream in(path, std::ios::binary);
    ASSERT_TRUE(in.good()) << path;
    document << in.rdbuf();
  }
  const std::string expected = WithBlocks(document.str(), FormatExampleBlocks());
  if (HasFailure()) return;
  if (std::getenv("CAMBIUM_REWRITE_DOCS") != nullptr) {
    std::ofstream(path, std::ios::binary) << expected;
    return;
  }
  EXPECT_EQ(document.str(), expected) << "if you mean this change, run the test with CAMBIUM_REWRITE_DOCS=1";
}

}  // namespace
}  // namespace cambium::testing
