// main() of the tests with several processes: runs the tests or, if called with --role, the role of a child.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "process/child.h"
#include "process/reader.h"

namespace cambium::testing {

int RunRole(const std::string& role, const Plan& plan) {
  if (role == "write") return RunWriter(plan, kMessageDescriptor);
  if (role == "get-hot") return RunHotGets(plan, kMessageDescriptor);
  if (role == "read") return RunReadAll(plan, Lacking::kNothing, kMessageDescriptor);
  if (role == "read-without-cachestat") return RunReadAll(plan, Lacking::kCacheStat, kMessageDescriptor);
  if (role == "read-without-residency") return RunReadAll(plan, Lacking::kResidency, kMessageDescriptor);
  if (role == "read-without-io_uring") return RunReadAll(plan, Lacking::kIoUring, kMessageDescriptor);
  if (role == "read-with-io_uring-forbidden") return RunReadAll(plan, Lacking::kIoUringForbidden, kMessageDescriptor);
  if (role == "hold" || role == "hold-for-reading") {
    if (plan.user != 0 && ::setuid(static_cast<uid_t>(plan.user)) != 0) return 4;
    std::unique_ptr<DB> db;
    const Options options = WorkloadOptions(plan.size);
    const Status s = role == "hold" ? DB::Open(options, plan.directory, &db)
                                    : DB::OpenForReadOnly(options, plan.directory, &db);
    Message message;
    message.kind = s.ok() ? Message::Kind::kOpened : Message::Kind::kOpenFailed;
    std::strncpy(message.text, s.ToString().c_str(), sizeof(message.text) - 1);
    if (::write(kMessageDescriptor, &message, sizeof(message)) != sizeof(message)) return 5;
    while (s.ok()) ::pause();
    return 3;
  }
  return 2;
}

}  // namespace cambium::testing

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--role") == 0) {
    return cambium::testing::RunRole(argv[2], cambium::testing::Plan::FromText(argv[3]));
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
