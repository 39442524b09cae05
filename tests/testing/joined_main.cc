// main() of a program that several tests share (cambium_join_tests in cmake/Cambium.cmake).
//
//   index_tests [--gtest_...] [SOURCE...]
//
// Runs the tests in the files SOURCE, or all tests if none is given. A SOURCE without tests, such as a file of helpers,
// is no error, but at least one test must be found.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

namespace {

// The part of a path from the last "/tests/" on. The rest depends on how the compiler was given the path: ccache may
// make it relative.
std::string PathInTests(const std::string& path) {
  const std::size_t place = path.rfind("/tests/");
  return place == std::string::npos ? path : path.substr(place);
}

// The names of the tests in these files, as --gtest_filter takes them.
std::string FilterFor(const std::set<std::string>& files) {
  std::string filter;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      if (files.contains(PathInTests(test.file()))) filter += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::set<std::string> files;
  for (int i = 1; i < argc; ++i) files.insert(PathInTests(argv[i]));
  if (!files.empty()) {
    const std::string filter = FilterFor(files);
    if (filter.empty()) {
      std::fputs("none of the files has a test\n", stderr);
      return 2;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}
