#include "cambium/status.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "util/result.h"
#include "util/status_text.h"

namespace cambium {
namespace {

TEST(StatusTest, OkHasNoMessageAndNoAllocation) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.ToString(), "OK");
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(StatusTest, EachPredicateMatchesOnlyItsCode) {
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
      {Status::Expired("m"), &Status::IsExpired},
      {Status::TryAgain("m"), &Status::IsTryAgain},
      {Status::ColumnFamilyDropped("m"), &Status::IsColumnFamilyDropped},
  };
  for (const auto& [status, own] : kinds) {
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message(), "m");
    for (const auto& [other, is] : kinds) EXPECT_EQ((status.*is)(), is == own) << status.ToString();
  }
}

TEST(StatusTest, SubcodesBelongToTheirCode) {
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
  EXPECT_TRUE(Status::LockTimeout("m").IsTimedOut());
  EXPECT_TRUE(Status::LockTimeout("m").IsLockTimeout());
  EXPECT_TRUE(Status::Deadlock("m").IsBusy());
  EXPECT_TRUE(Status::Deadlock("m").IsDeadlock());
  EXPECT_TRUE(Status::LockLimit("m").IsBusy());
  EXPECT_TRUE(Status::LockLimit("m").IsLockLimit());
  EXPECT_FALSE(Status::LockLimit("m").IsDeadlock());
  EXPECT_TRUE(Status::OutOfMemory("m").IsAborted());
  EXPECT_TRUE(Status::OutOfMemory("m").IsOutOfMemory());
  EXPECT_FALSE(Status::Aborted("m").IsOutOfMemory());
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

// Statuses of all kinds, with a message.
std::vector<Status> OfEachKind(const char* message) {
  std::vector<Status> all;
  for (const auto make : {&Status::NotFound, &Status::Corruption, &Status::NotSupported, &Status::InvalidArgument,
                          &Status::IOError, &Status::NoSpace, &Status::Locked, &Status::PathNotFound, &Status::Denied,
                          &Status::Incomplete, &Status::ShutdownInProgress, &Status::TimedOut, &Status::LockTimeout,
                          &Status::Aborted, &Status::OutOfMemory, &Status::Busy, &Status::Deadlock, &Status::LockLimit,
                          &Status::Expired, &Status::TryAgain, &Status::ColumnFamilyDropped}) {
    all.push_back(make(message));
  }
  return all;
}

// Messages that look like parts of a text must not be taken for them.
TEST(StatusTextTest, EveryTextIsReadBack) {
  std::set<const StatusKind*> kinds;
  for (const char* const message : {"", "m", ": ", "no space", " (no space)", "(fatal until reopened): IO error: m"}) {
    for (const Status& plain : OfEachKind(message)) {
      for (const Status& status : {plain, plain.Fatal(), plain.Fatal().WithContext("c")}) {
        const std::string text = status.ToString();
        const std::optional<StatusText> parsed = ParseStatusText(text);
        ASSERT_TRUE(parsed.has_value()) << text;
        EXPECT_EQ(parsed->kind->code, status.code()) << text;
        EXPECT_EQ(parsed->kind->subcode, status.subcode()) << text;
        EXPECT_EQ(parsed->severity, status.severity()) << text;
        EXPECT_EQ(parsed->message, status.message()) << text;
        kinds.insert(parsed->kind);
      }
    }
  }
  EXPECT_EQ(kinds.size(), std::size(kStatusKinds));
}

TEST(StatusTextTest, MalformedTextsAreRejected) {
  for (const char* const text : {"", "OK", "NotFounder", "not found", "IO error (no space", "IO error (strange): m",
                                 "IO error:", "IO error:m", " IO error: m", "read: IO error: m", "Corruption m",
                                 "Corruption (no space): m", "Corruption (fatal until reopened) (no space): m"}) {
    EXPECT_FALSE(ParseStatusText(text).has_value()) << text;
  }
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
