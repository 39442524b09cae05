// A process whose kernel lacks or forbids the calls that make reads fast must still read everything.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/uring_read_queue.h"
#include "process/child.h"
#include "process/reader.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

class LackingCallsTest : public ::testing::Test {
 protected:
  // Runs a child that reads everything. Returns which read paths it used. Fails if it read wrong values.
  std::string ReadAll(const std::string& role) {
    Plan plan;
    plan.directory = directory_.File(role);
    Child child(role, plan);
    std::string seen = "nothing";
    static_cast<void>(child.Listen(120'000'000, [&](const Message& message) {
      EXPECT_NE(message.kind, Message::Kind::kWrong) << role << ": " << message.text;
      if (message.kind == Message::Kind::kClosed) seen = message.text;
      return false;
    }));
    const int code = child.Wait();
    if (code == kCannotForbid) return "cannot forbid";
    EXPECT_EQ(code, 0) << role;
    return seen;
  }
  static bool Has(const std::string& seen, const std::string& word) { return seen.find(word) != std::string::npos; }

  // Returns whether mincore reports residency for a file of ours.
  bool MincoreWorks() {
    const std::string path = directory_.File("probe");
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (::pwrite(fd, "x", 1, 0) != 1) return false;
    void* const page = ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char answer = 0;
    const bool tells = page != MAP_FAILED && ::mincore(page, 1, &answer) == 0 && (answer & 1) != 0;
    ::munmap(page, 1);
    ::close(fd);
    return tells;
  }

  TempDirectory directory_;
};

TEST_F(LackingCallsTest, WithoutCachestatMincoreIsUsed) {
  if (!MincoreWorks()) GTEST_SKIP() << "SKIPPED: mincore does not report residency";
  const std::string seen = ReadAll("read-without-cachestat");
  if (seen == "cannot forbid") GTEST_SKIP() << "SKIPPED: no seccomp filter may be set here";
  EXPECT_TRUE(Has(seen, "mapped")) << seen;
}

TEST_F(LackingCallsTest, WithoutResidencyNothingIsMapped) {
  const std::string seen = ReadAll("read-without-residency");
  if (seen == "cannot forbid") GTEST_SKIP() << "SKIPPED: no seccomp filter may be set here";
  EXPECT_FALSE(Has(seen, "mapped") || Has(seen, "nothing")) << seen;
}

TEST_F(LackingCallsTest, WithoutIoUringThreadsServeTheQueues) {
  for (const std::string role : {"read", "read-without-io_uring", "read-with-io_uring-forbidden"}) {
    const std::string seen = ReadAll(role);
    if (seen == "cannot forbid") GTEST_SKIP() << "SKIPPED: no seccomp filter may be set here";
    EXPECT_EQ(Has(seen, "uring"), role == "read" && IoUringWorks()) << seen;
    if (Has(seen, "kept")) {
      std::printf("SKIPPED cold values (%s): no page can be kept out of the cache\n", role.c_str());
    } else {
      EXPECT_TRUE(Has(seen, "queued")) << seen;
    }
  }
}

}  // namespace
}  // namespace cambium::testing
