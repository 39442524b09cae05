// If the file of a mapping is truncated, GuardedCopy reports it. Every other SIGBUS arrives as if there were no guard.
// Code that may end the process runs in a child, whose exit code or signal shows the result.
#include "io/guarded_copy.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "cambium/file_system.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kPages = 4;

// ---- The program as a child: argv is kChild, the earlier action for SIGBUS, the event ----

constexpr const char* kChild = "--meet-sigbus";
constexpr int kHandled = 7;

void Handle(int) { ::_exit(kHandled); }
void HandleWithInformation(int, siginfo_t* info, void* context) {
  ::_exit(info != nullptr && context != nullptr ? kHandled : 8);
}

int RunWithSigbus(const std::string& before, const std::string& event) {
  struct sigaction action = {};
  if (before == "handler") action.sa_handler = Handle;
  if (before == "ignore") action.sa_handler = SIG_IGN;
  if (before == "handler with information") {
    action.sa_sigaction = HandleWithInformation;
    action.sa_flags = SA_SIGINFO;
  }
  if (::sigaction(SIGBUS, &action, nullptr) != 0 || !InstallCopyGuard()) return 90;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const TempDirectory directory;
  std::unique_ptr<File> file;
  std::unique_ptr<MappedRegion> region;
  if (!FileSystem::Default()->Open(directory.File("f"), OpenMode::kCreateNew, {}, &file).ok()) return 91;
  if (!file->Write(0, std::string(page, 'x')).ok() || !file->Map(0, page, &region).ok()) return 92;
  if (!file->Truncate(0).ok() || !FileSystem::Default()->Unlink(directory.File("f")).ok()) return 93;
  char out = 0;
  if (!CopyGuardHolds() || GuardedCopy(&out, region->data(), 1)) return 94;
  if (event == "sent") {
    ::raise(SIGBUS);
  } else {
    static_cast<void>(*static_cast<const volatile char*>(region->data()));
  }
  if (!CopyGuardHolds() || GuardedCopy(&out, region->data(), 1)) return 95;
  return 0;
}

class GuardedCopyTest : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__x86_64__)
    ASSERT_TRUE(InstallCopyGuard());
#else
    ASSERT_FALSE(InstallCopyGuard());
    GTEST_SKIP() << "SKIPPED: the guarded copy exists on x86-64 only; elsewhere InstallCopyGuard() returns false, as was checked, "
                    "and values are read from the file";
#endif
    ASSERT_TRUE(FileSystem::Default()->Open(directory_.File("f"), OpenMode::kCreateNew, {}, &file_).ok());
    ASSERT_TRUE(file_->Write(0, std::string(kPages * page_, 'x')).ok());
    ASSERT_TRUE(file_->Map(0, kPages * page_, &region_).ok());
  }
  // Truncates the file under the mapping to half of its pages.
  void Cut() { ASSERT_TRUE(file_->Truncate(kPages / 2 * page_).ok()); }
  const std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  TempDirectory directory_;
  std::unique_ptr<File> file_;
  std::unique_ptr<MappedRegion> region_;
};

TEST_F(GuardedCopyTest, CopiesPresentPagesAndReportsMissingOnes) {
  ASSERT_TRUE(CopyGuardHolds());
  std::string out(kPages * page_, '?');
  EXPECT_TRUE(GuardedCopy(out.data(), region_->data(), out.size()));
  EXPECT_EQ(out, std::string(out.size(), 'x'));
  EXPECT_TRUE(GuardedCopy(out.data(), region_->data(), 0));
  Cut();
  std::string half(kPages / 2 * page_, '?');
  EXPECT_TRUE(GuardedCopy(half.data(), region_->data(), half.size()));
  EXPECT_EQ(half, std::string(half.size(), 'x'));
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(GuardedCopy(out.data(), region_->data(), out.size()));
    EXPECT_FALSE(GuardedCopy(out.data(), region_->data() + out.size() - 1, 1));
  }
}

TEST_F(GuardedCopyTest, ManyThreadsMayFaultAtOnce) {
  Cut();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::string out(kPages * page_, '?');
      for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(CopyGuardHolds());
        EXPECT_FALSE(GuardedCopy(out.data(), region_->data(), out.size()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Returns the wait status of a process in which SIGBUS had the action `before`, then the guard is installed, then
// `event` raises the signal.
int StatusOf(const char* before, const char* event) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "guarded_copy_test", kChild, before, event, nullptr);
    ::_exit(99);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST_F(GuardedCopyTest, OtherSignalsReachTheEarlierHandler) {
  for (const char* event : {"fault", "sent"}) {
    const int handled = StatusOf("handler", event);
    EXPECT_TRUE(WIFEXITED(handled) && WEXITSTATUS(handled) == kHandled) << event << ' ' << handled;
    const int with_info = StatusOf("handler with information", event);
    EXPECT_TRUE(WIFEXITED(with_info) && WEXITSTATUS(with_info) == kHandled) << event << ' ' << with_info;
    const int by_default = StatusOf("default", event);
    EXPECT_TRUE(WIFSIGNALED(by_default) && WTERMSIG(by_default) == SIGBUS) << event << ' ' << by_default;
  }
  const int fault = StatusOf("ignore", "fault");
  EXPECT_TRUE(WIFSIGNALED(fault) && WTERMSIG(fault) == SIGBUS) << "a process cannot ignore a fault";
  const int sent = StatusOf("ignore", "sent");
  EXPECT_TRUE(WIFEXITED(sent) && WEXITSTATUS(sent) == 0) << sent;
}

TEST_F(GuardedCopyTest, GuardDoesNotHoldInAThreadThatBlocksSigbus) {
  std::thread([] {
    sigset_t all;
    sigfillset(&all);
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &all, nullptr), 0);
    EXPECT_FALSE(CopyGuardHolds());
  }).join();
  EXPECT_TRUE(CopyGuardHolds());
}

void Ignore(int) {}

TEST_F(GuardedCopyTest, LaterHandlerIsNoticed) {
  struct sigaction ours;
  struct sigaction another = {};
  another.sa_handler = Ignore;
  ASSERT_EQ(sigaction(SIGBUS, &another, &ours), 0);
  for (unsigned i = 0; i < kGuardChecks; ++i) static_cast<void>(CopyGuardHolds());
  EXPECT_FALSE(CopyGuardHolds());
  std::thread([] { EXPECT_FALSE(CopyGuardHolds()) << "the first call of a thread must ask the system"; }).join();
  ASSERT_EQ(sigaction(SIGBUS, &ours, nullptr), 0);
  for (unsigned i = 0; i < kGuardChecks; ++i) static_cast<void>(CopyGuardHolds());
  EXPECT_TRUE(CopyGuardHolds());
}

}  // namespace

int RunChild(char** argv) { return RunWithSigbus(argv[2], argv[3]); }
bool IsChild(int argc, char** argv) { return argc == 4 && std::string(argv[1]) == kChild; }

}  // namespace cambium::testing

int main(int argc, char** argv) {
  if (cambium::testing::IsChild(argc, argv)) return cambium::testing::RunChild(argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
