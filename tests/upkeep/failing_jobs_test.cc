// If a compaction, log GC or a seal fails again and again, writes fail with its error until it succeeds.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cambium/compaction_filter.h"
#include "cambium/listener.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"
#include "util/fault_point.h"

namespace cambium::testing {
namespace {

class IllegalFilter final : public CompactionFilter {
 public:
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType /*type*/, const Slice& /*value*/,
                    std::string* /*new_value*/, std::string* /*skip_until*/) const override {
    return is_illegal ? Decision::kUndetermined : Decision::kKeep;
  }
  [[nodiscard]] const char* Name() const override { return "IllegalFilter"; }
  bool is_illegal = true;
};

class ErrorCounter final : public EventListener {
 public:
  void OnBackgroundError(const BackgroundErrorInfo& info) override { errors.push_back(info.status.ToString()); }
  std::vector<std::string> errors;
};

struct FailingStore : TestStore {
  FailingStore() {
    options.compaction_filter = &filter;
    options.write_buffer_size = 4096;
    options.level0_file_num_compaction_trigger = 1;
    options.level0_slowdown_writes_trigger = 1000;  // the failures alone stop the writes
    options.level0_stop_writes_trigger = 2000;
    options.listeners = {errors};
  }
  ~FailingStore() { db.reset(); }

  // Writes until a write fails, and returns its error; OK after `most` writes.
  Status WriteUntilItFails(int most) {
    for (int i = 0; i < most; ++i) {
      const Status s = db->Put({}, NumberedKey(i % 1000), std::string(40, 'v'));
      if (!s.ok()) return s;
      executor->RunAll();
    }
    return Status::OK();
  }
  std::uint64_t Runs() { return Property("num-runs"); }

  IllegalFilter filter;
  std::shared_ptr<ErrorCounter> errors = std::make_shared<ErrorCounter>();
};

TEST(FailingJobsTest, WritesFailWithTheErrorOfACompactionThatFailsAgainAndAgain) {
  FailingStore store;
  store.MustOpen();
  const Status failed = store.WriteUntilItFails(100'000);
  ASSERT_TRUE(failed.IsInvalidArgument()) << failed.ToString();
  EXPECT_EQ(failed.severity(), Status::Severity::kNone) << "the database need not be opened again";
  for (const char* part : {"background work has failed", "times in a row", "IllegalFilter"}) {
    EXPECT_NE(failed.message().find(part), std::string::npos) << failed.ToString();
  }
  EXPECT_LT(store.Runs(), 40u);
  // Every failure is counted and reported.
  EXPECT_GE(store.Property("background-errors"), 10u);
  EXPECT_LE(store.Property("background-errors"), 11u) << "ten in a row, and the try of the write that failed";
  EXPECT_EQ(store.Property("background-errors"), store.errors->errors.size());
  // All writes fail; reads and flushes do not.
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("x", "y").ok());
  WriteOptions impatient;
  impatient.no_slowdown = true;
  for (const Status& s : {store.db->Delete({}, "a"), store.db->Write({}, &batch), store.db->Put(impatient, "x", "y"),
                          store.db->DeleteRange({}, "a", "b"), store.db->Resume()}) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  }
  EXPECT_EQ(store.Get(NumberedKey(0)), std::string(40, 'v'));
  store.Flush();
  // As soon as compactions succeed, writes do too, without a call of Resume.
  store.filter.is_illegal = false;
  store.Put("x", "y");
  EXPECT_TRUE(store.db->Resume().ok());
  store.RunUntilIdle();
  EXPECT_LE(store.Runs(), 4u);
  EXPECT_EQ(store.Verify(), "");
}

// The other families have nothing to do with the filter.
TEST(FailingJobsTest, WritesToOtherFamiliesGoOnIfACompactionFails) {
  IllegalFilter filter;
  FamilyStore store;
  store.options.write_buffer_size = 4096;
  store.options.level0_file_num_compaction_trigger = 1;
  store.options.level0_slowdown_writes_trigger = 1000;
  store.options.level0_stop_writes_trigger = 2000;
  ColumnFamilyOptions filtered = store.options;
  filtered.compaction_filter = &filter;
  store.family_options["filtered"] = filtered;
  store.MustOpen();
  ColumnFamilyHandle* const family = store.Create("filtered");
  Status failed;
  for (int i = 0; i < 100'000 && failed.ok(); ++i) {
    failed = store.db->Put({}, family, NumberedKey(i % 1000), std::string(40, 'v'));
    store.executor->RunAll();
  }
  ASSERT_TRUE(failed.IsInvalidArgument()) << failed.ToString();
  for (int i = 0; i < 2000; ++i) store.Put(NumberedKey(i % 1000), std::string(40, 'v'));
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("x", "y").ok());
  ASSERT_TRUE(batch.Put(family, "x", "y").ok());
  EXPECT_TRUE(store.db->Write({}, &batch).IsInvalidArgument());
  EXPECT_EQ(store.Get("x"), "NotFound");
  filter.is_illegal = false;
  store.PutIn(family, "x", "y");
}

// Calls `fail`, after which a job fails each time. Writes until the job's failures make writes to both families fail,
// and checks that reads still succeed. Then calls `end`, after which the job succeeds.
void ExpectAllWritesFail(FamilyStore* store, const std::function<void()>& fail, const std::function<void()>& end) {
  store->options.write_buffer_size = 4096;
  store->options.blob_file_size = 16u << 10;
  store->options.blob_garbage_collection_age_cutoff = 1;
  store->MustOpen();
  ColumnFamilyHandle* const other = store->Create("other");
  const std::string value(1000, 'v');
  for (int i = 0; i < 50; ++i) store->Put(NumberedKey(i), value);
  store->PutIn(other, "a", "b");
  store->RunUntilIdle();
  fail();
  Status failed;
  for (int i = 0; i < 100'000 && failed.ok(); ++i) {
    failed = store->db->Put({}, NumberedKey(i % 50), value);
    store->executor->RunAll();
  }
  ASSERT_TRUE(failed.IsIOError()) << failed.ToString();
  EXPECT_EQ(failed.severity(), Status::Severity::kNone) << "the database need not be opened again";
  EXPECT_NE(failed.message().find("times in a row"), std::string::npos) << failed.ToString();
  EXPECT_TRUE(store->db->Put({}, other, "x", "y").IsIOError());
  EXPECT_TRUE(store->db->Delete({}, other, "a").IsIOError());
  EXPECT_EQ(store->Get(NumberedKey(7)), value);
  EXPECT_EQ(store->GetFrom(other, "a"), "b");
  end();
  store->PutIn(other, "x", "y");
  for (int i = 0; i < 50; ++i) store->Put(NumberedKey(i), value);
  store->RunUntilIdle();
  EXPECT_EQ(store->Verify(), "");
}

TEST(FailingJobsTest, AllWritesFailIfLogGcFailsAgainAndAgain) {
  FamilyStore store;
  ExpectAllWritesFail(
      &store,
      [&] {
        SimFault fault;
        fault.kind = SimOpKind::kWrite;
        fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".gc"); };
        fault.sticky = true;
        store.fs->AddFault(fault);
      },
      [&] { store.fs->ClearFaults(); });
}

// The MANIFEST record of each seal cannot be written; all other records can.
TEST(FailingJobsTest, AllWritesFailIfSealsFailAgainAndAgain) {
  bool fails = false;
  bool seals = false;
  FamilyStore store;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) == "Seal:written") seals = fails;
  });
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [&](SimOpKind, const std::string& path) {
    return path.find("MANIFEST") != std::string::npos && std::exchange(seals, false);
  };
  fault.sticky = true;
  store.fs->AddFault(fault);
  ExpectAllWritesFail(&store, [&] { fails = true; }, [&] { fails = false; });
  FaultPoints::Instance().Set(nullptr);
}

TEST(FailingJobsTest, ResumeRestartsFailedJobs) {
  FailingStore store;
  store.MustOpen();
  ASSERT_FALSE(store.WriteUntilItFails(100'000).ok());
  EXPECT_TRUE(store.db->Resume().IsInvalidArgument());
  store.filter.is_illegal = false;
  EXPECT_TRUE(store.db->Resume().ok());
  const std::uint64_t errors = store.Property("background-errors");
  EXPECT_TRUE(store.WriteUntilItFails(3000).ok());
  EXPECT_EQ(store.Property("background-errors"), errors);
}

// Failures that end by themselves do not count, and a success ends the count.
TEST(FailingJobsTest, OnlyFailuresInARowCount) {
  FailingStore store;
  store.MustOpen();
  for (int i = 0; i < 4; ++i) {
    store.filter.is_illegal = true;
    for (int flushes = 0; flushes < 8; ++flushes) {
      store.Put(NumberedKey(flushes), "v");
      store.Flush();
      store.executor->RunAll();
    }
    store.filter.is_illegal = false;
    store.RunUntilIdle();
  }
  EXPECT_GE(store.Property("background-errors"), 20u);
  store.Put("x", "y");
}

TEST(FailingJobsTest, MutantLetsRunsPileUp) {
  FailingStore store;
  store.MustOpen();
  const MutantScope mutant(Mutant::kFailuresStayUnnoticed);
  EXPECT_TRUE(store.WriteUntilItFails(10'000).ok());
  EXPECT_GT(store.Runs(), 60u);
}

}  // namespace
}  // namespace cambium::testing
