#include "inspect/problems.h"

#include <gtest/gtest.h>

namespace cambium {
namespace {

TEST(ProblemsTest, RepeatedProblemIsAddedOnce) {
  Problems problems;
  EXPECT_TRUE(problems.empty());
  problems.Add("a");
  problems.Add("a");
  problems.Add("b");
  problems.Add("a");
  EXPECT_EQ(problems.count(), 3u);
  EXPECT_EQ(problems.lines(), (std::vector<std::string>{"a", "b", "a"}));
}

TEST(ProblemsTest, KeepsABoundedNumberOfLinesAndCountsAll) {
  Problems problems;
  for (std::size_t i = 0; i < Problems::kKeptMax + 5; ++i) problems.Add(std::to_string(i));
  EXPECT_EQ(problems.lines().size(), Problems::kKeptMax);
  EXPECT_EQ(problems.count(), Problems::kKeptMax + 5);
}

TEST(ProblemsTest, OnlyCorruptionIsRecorded) {
  Problems problems;
  EXPECT_TRUE(problems.Note(Status::OK()).ok());
  EXPECT_TRUE(problems.Note(Status::IOError("disk")).IsIOError());
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(problems.Note(Status::Corruption("file:7: damaged")).ok());
  EXPECT_EQ(problems.lines(), (std::vector<std::string>{"file:7: damaged"}));
}

}  // namespace
}  // namespace cambium
