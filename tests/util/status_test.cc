#include "cambium/status.h"

#include <gtest/gtest.h>

#include <utility>

#include "util/result.h"

namespace cambium {
namespace {

TEST(StatusTest, OkHasNoMessageAndNoAllocation) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.ToString(), "OK");
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(StatusTest, EachCodeAnswersOnlyToItsOwnQuery) {
  const std::pair<Status, bool (Status::*)() const> kinds[] = {
      {Status::NotFound("m"), &Status::IsNotFound},
      {Status::Corruption("m"), &Status::IsCorruption},
      {Status::NotSupported("m"), &Status::IsNotSupported},
      {Status::InvalidArgument("m"), &Status::IsInvalidArgument},
      {Status::IOError("m"), &Status::IsIOError},
      {Status::Incomplete("m"), &Status::IsIncomplete},
      {Status::ShutdownInProgress("m"), &Status::IsShutdownInProgress},
      {Status::TimedOut("m"), &Status::IsTimedOut},
      {Status::Aborted("m"), &Status::IsAborted},
      {Status::Busy("m"), &Status::IsBusy},
  };
  for (const auto& [status, own] : kinds) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "m");
    for (const auto& [other, is] : kinds) EXPECT_EQ((status.*is)(), is == own) << status.ToString();
  }
}

TEST(StatusTest, SubcodesAreIOErrors) {
  EXPECT_TRUE(Status::NoSpace("m").IsIOError());
  EXPECT_TRUE(Status::NoSpace("m").IsNoSpace());
  EXPECT_FALSE(Status::NoSpace("m").IsLocked());
  EXPECT_TRUE(Status::Locked("m").IsIOError());
  EXPECT_TRUE(Status::Locked("m").IsLocked());
  EXPECT_TRUE(Status::PathNotFound("m").IsPathNotFound());
  EXPECT_FALSE(Status::IOError("m").IsPathNotFound());
  EXPECT_TRUE(Status::Denied("m").IsDenied());
  EXPECT_TRUE(Status::Denied("m").IsIOError());
  EXPECT_FALSE(Status::IOError("m").IsDenied());
}

TEST(StatusTest, CopiesAreIndependent) {
  Status a = Status::Corruption("one");
  const Status b = a;
  a = Status::OK();
  EXPECT_EQ(b.message(), "one");
  a = b;
  const Status& same = a;
  a = same;
  EXPECT_EQ(a.message(), "one");
  const Status c = std::move(a);
  EXPECT_EQ(c.message(), "one");
}

TEST(StatusTest, FatalAndContextKeepTheCode) {
  const Status status = Status::NoSpace("fdatasync 7.log").Fatal().WithContext("flush");
  EXPECT_TRUE(status.IsNoSpace());
  EXPECT_EQ(status.severity(), Status::Severity::kFatal);
  EXPECT_EQ(status.message(), "flush: fdatasync 7.log");
  EXPECT_EQ(status.ToString(), "IO error (no space) (fatal until reopened): flush: fdatasync 7.log");
  EXPECT_TRUE(Status::OK().Fatal().ok());
  EXPECT_TRUE(Status::OK().WithContext("c").ok());
}

Result<int> Half(int n) {
  if (n % 2 != 0) return Status::InvalidArgument("odd");
  return n / 2;
}
Result<int> Quarter(int n) {
  CAMBIUM_TRY(const int half, Half(n));
  CAMBIUM_TRY(const int quarter, Half(half));
  return quarter;
}
Status Check(int n) {
  CAMBIUM_RETURN_IF_ERROR(Half(n).status());
  return Status::OK();
}

TEST(ResultTest, TryTakesTheValueOrReturns) {
  ASSERT_TRUE(Quarter(12).ok());
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_TRUE(Quarter(6).status().IsInvalidArgument());
  EXPECT_TRUE(Quarter(7).status().IsInvalidArgument());
  EXPECT_TRUE(Check(2).ok());
  EXPECT_TRUE(Check(3).IsInvalidArgument());
}

}  // namespace
}  // namespace cambium
