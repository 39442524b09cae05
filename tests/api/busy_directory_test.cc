// If a directory cannot be synced because no descriptor is free, nothing is lost.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cambium/db.h"
#include "io/sim/sim_clock.h"
#include "io/sim/sim_file_system.h"
#include "io/sim/sim_random_source.h"
#include "util/manual_executor.h"

namespace cambium {
namespace {

// The sync that makes a new segment's name durable returns Busy, as the real file system does at EMFILE: that write
// fails, the next one succeeds, and all acknowledged data is there.
TEST(BusyDirectoryTest, SyncWithoutFreeDescriptorIsNotFatal) {
  const auto fs = std::make_shared<SimFileSystem>();
  Options options;
  options.create_if_missing = true;
  options.file_system = fs;
  options.clock = std::make_shared<SimClock>();
  options.random_source = std::make_shared<SimRandomSource>(1);
  options.executor = std::make_shared<ManualExecutor>();
  options.info_log = NullLogger();
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, "/db", &db).ok());

  SimFault fault;
  fault.matches = [](SimOpKind kind, const std::string&) { return kind == SimOpKind::kSyncDirectory; };
  fault.status = Status::Busy("no descriptor is free");
  const int id = fs->AddFault(fault);
  const Status refused = db->Put({}, "a", "1");
  EXPECT_TRUE(refused.IsBusy()) << refused.ToString();
  EXPECT_EQ(refused.severity(), Status::Severity::kNone);
  fs->RemoveFault(id);

  WriteOptions synced;
  synced.sync = true;
  const Status written = db->Put(synced, "a", "2");
  ASSERT_TRUE(written.ok()) << written.ToString();
  std::string value;
  ASSERT_TRUE(db->Get({}, "a", &value).ok());
  EXPECT_EQ(value, "2");
  ASSERT_TRUE(db->Close().ok());
}

}  // namespace
}  // namespace cambium
