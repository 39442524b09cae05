#include "convert/measured_file.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/heap_bytes.h"

namespace cambium::testing {
namespace {

// Regression: the memory was kept, so a dry run took as much memory as the new index.
TEST(MeasuredFileTest, ForgetReleasesMemory) {
  constexpr std::size_t kBytes = 8u << 20;
  MeasuredFile file("measured");
  const std::size_t before = HeapBytes();
  ASSERT_TRUE(file.Write(0, std::string(kBytes, 'x')).ok());
  file.Forget();
  EXPECT_LT(HeapBytes(), before + kBytes / 8);
  EXPECT_EQ(file.length(), kBytes);
}

}  // namespace
}  // namespace cambium::testing
