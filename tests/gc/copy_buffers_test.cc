#include "gc/copy_buffers.h"

#include <gtest/gtest.h>

#include <utility>

namespace cambium {
namespace {

TEST(CopyBuffersTest, BuffersAreKeptOnlyOnRequest) {
  CopyBuffers buffers;
  buffers.Give(buffers.Take(1000));
  EXPECT_EQ(buffers.kept_bytes(), 0u);
}

TEST(CopyBuffersTest, NextStepGetsTheBufferOfTheLast) {
  CopyBuffers buffers;
  buffers.Keep(1, 1000);
  CopyBuffers::Buffer first = buffers.Take(10);
  EXPECT_EQ(first.size, 1000u) << "so that it suffices for the next step";
  const char* const bytes = first.bytes.get();
  buffers.Give(std::move(first));
  buffers.Keep(1, 900);  // each step calls it
  CopyBuffers::Buffer second = buffers.Take(950);
  EXPECT_EQ(second.bytes.get(), bytes);
  EXPECT_EQ(buffers.kept_bytes(), 0u);
  buffers.Give(buffers.Take(2000));
  buffers.Give(std::move(second));
  EXPECT_EQ(buffers.kept_bytes(), 2000u) << "one is kept";
}

TEST(CopyBuffersTest, BuffersThatAreNoLongerWantedAreFreed) {
  CopyBuffers buffers;
  buffers.Keep(2, 1000);
  CopyBuffers::Buffer first = buffers.Take(1);
  buffers.Give(buffers.Take(1));
  buffers.Give(std::move(first));
  EXPECT_EQ(buffers.kept_bytes(), 2000u);
  buffers.Keep(1, 1000);
  EXPECT_EQ(buffers.kept_bytes(), 1000u);
  buffers.Keep(0, 0);
  EXPECT_EQ(buffers.kept_bytes(), 0u);
}

}  // namespace
}  // namespace cambium
