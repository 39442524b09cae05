// Memory runs out in a call of the user, at each of its allocations. The call may fail, but afterwards everything is as
// it was: the call succeeds when it is repeated, and so do writes, flushes and compactions, also after a reopen.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "cambium/compaction_filter.h"
#include "cambium/iterator.h"
#include "cambium/write_batch.h"
#include "testing/ample_file_system.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/scarce_memory.h"
#include "util/result.h"

namespace cambium::testing {
namespace {

constexpr int kKeys = 40;
constexpr int kAfter = 30;

// Tasks have all memory, as on threads of their own.
class AmpleExecutor final : public Executor {
 public:
  explicit AmpleExecutor(std::shared_ptr<ManualExecutor> base) : base_(std::move(base)) {}
  void Schedule(TaskPriority priority, std::function<void()> task) override {
    base_->Schedule(priority, std::move(task));
  }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    base_->ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override {
    const AmpleMemory ample;
    return base_->RunOneInstead();
  }

 private:
  const std::shared_ptr<ManualExecutor> base_;
};

// Keeps everything.
class KeepAll final : public CompactionFilter {
 public:
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override { return false; }
  [[nodiscard]] const char* Name() const override { return "KeepAll"; }
};

std::string ValueOf(int i, int round) { return std::string(i % 3 == 0 ? 20 : 200, static_cast<char>('a' + round % 26)); }

struct Shop : FamilyStore {
  Shop() {
    options.file_system = std::make_shared<AmpleFileSystem>(fs);
    options.create_missing_column_families = true;
    options.executor = std::make_shared<AmpleExecutor>(executor);
  }
  // Three runs or levels of the same keys, and newer values in the memtable.
  void Fill() {
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < kKeys; ++i) PutIn(handles[0], NumberedKey(i), ValueOf(i, round));
      if (round < 3) FlushOf(handles[0]);
    }
  }
  void ExpectContents() {
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(GetFrom(handles[0], NumberedKey(i)), ValueOf(i, 3)) << i;
  }
};

struct Call {
  const char* name;
  std::function<Status(Shop&)> run;
  std::function<bool(Shop&)> is_done = nullptr;  // whether the call has had its effect; null: cannot be seen
  bool may_be_fatal = false;                     // the caller's thread writes a record of the MANIFEST
  bool repeats_fail = false;                     // a repeated call may report that all was done
  bool is_scan = false;
};

std::vector<Call> Calls() {
  const auto put = [](Shop& shop, std::size_t bytes) { return shop.db->Put({}, "call", std::string(bytes, 'v')); };
  const auto has_put = [](std::size_t bytes) {
    return [bytes](Shop& shop) { return shop.Get("call") == std::string(bytes, 'v'); };
  };
  const auto is_flushed = [](Shop& shop) { return shop.Property("num-entries-active-mem-table") == 0; };
  return {
      {"CompactRange", [](Shop& shop) { return shop.db->CompactRange({}, nullptr, nullptr); }, is_flushed, true},
      {"CompactRangeThatClusters",
       [](Shop& shop) {
         CompactRangeOptions options;
         options.cluster_values = true;
         return shop.db->CompactRange(options, nullptr, nullptr);
       },
       is_flushed, true},
      {"CompactRangeThatCollects",
       [](Shop& shop) {
         CompactRangeOptions options;
         options.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
         return shop.db->CompactRange(options, nullptr, nullptr);
       },
       is_flushed, true},
      {"Flush", [](Shop& shop) { return shop.db->Flush({}); }, is_flushed},
      {"Put", [put](Shop& shop) { return put(shop, 20); }, has_put(20)},
      {"PutOfASeparatedValue", [put](Shop& shop) { return put(shop, 300); }, has_put(300)},
      {"PutOfALargeValue", [put](Shop& shop) { return put(shop, 20'000); }, has_put(20'000), true},
      {"PutsThatFreezeAndRotate",
       [put](Shop& shop) {
         for (int i = 0; i < 20; ++i) CAMBIUM_RETURN_IF_ERROR(put(shop, 4'000));
         return Status::OK();
       },
       has_put(4'000), true},
      {"WriteOfABatch",
       [](Shop& shop) {
         WriteBatch batch;
         CAMBIUM_RETURN_IF_ERROR(batch.Put("call", "value"));
         CAMBIUM_RETURN_IF_ERROR(batch.Put(shop.handles[1], "call", std::string(500, 'v')));
         CAMBIUM_RETURN_IF_ERROR(batch.Delete("call2"));
         return shop.db->Write({}, &batch);
       },
       [](Shop& shop) {
         return shop.Get("call") == "value" && shop.GetFrom(shop.handles[1], "call") == std::string(500, 'v');
       }},
      {"DeleteRange", [](Shop& shop) { return shop.db->DeleteRange({}, shop.handles[0], "call", "call9"); }},
      {"CreateColumnFamily",
       [](Shop& shop) {
         ColumnFamilyHandle* handle = nullptr;
         const Status s = shop.db->CreateColumnFamily(shop.OptionsOf("new"), "new", &handle);
         const AmpleMemory ample;
         if (handle != nullptr) shop.handles.push_back(handle);
         return s;
       },
       [](Shop& shop) { return shop.handles.size() == 3; }, true, true},
      {"DropColumnFamily", [](Shop& shop) { return shop.db->DropColumnFamily(shop.handles[1]); },
       [](Shop& shop) { return !shop.db->Put({}, shop.handles[1], "call", "value").ok(); }, true, true},
      {"SetOptions", [](Shop& shop) { return shop.db->SetOptions(shop.handles[0], {{"write_buffer_size", "32768"}}); },
       [](Shop& shop) { return shop.db->GetOptions(shop.handles[0]).write_buffer_size == 32768; }},
      {"Scan",
       [](Shop& shop) {
         const std::unique_ptr<Iterator> it(shop.db->NewIterator({}, shop.handles[0]));
         int keys = 0;
         for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
         CAMBIUM_RETURN_IF_ERROR(it->status());
         return keys == kKeys ? Status::OK() : Status::NotFound("a key");
       },
       nullptr, false, false, true},
      {"Get",
       [](Shop& shop) {
         std::string value;
         CAMBIUM_RETURN_IF_ERROR(shop.db->Get({}, shop.handles[0], NumberedKey(1), &value));
         return value.size() == ValueOf(1, 3).size() ? Status::OK() : Status::NotFound("a part of the value");
       }},
      {"SnapshotAndFlush",
       [](Shop& shop) {
         const ManagedSnapshot snapshot(shop.db.get());
         return shop.db->Flush({});
       },
       is_flushed},
  };
}

// Opens a filled database and lets the call have `granted` allocations. Returns whether it needed more. Counts the
// databases that took no writes afterwards.
bool Try(const Call& call, std::uint64_t granted, bool has_filter, int* fatal_errors) {
  static const KeepAll filter;
  Shop shop;
  if (has_filter) shop.options.compaction_filter = &filter;
  shop.MustOpenWith({"other"});
  shop.Fill();
  std::uint64_t refused = 0;
  bool has_thrown = false;
  Status s;
  {
    ScarceMemory scarce(granted);
    try {
      s = call.run(shop);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
    refused = scarce.End();
  }
  EXPECT_TRUE(refused != 0 || s.ok()) << s.ToString();
  // Without the memory that it asked for, a call throws, unless it could do without. It may return an error only if it
  // may have written a record of the MANIFEST, or if it is an iterator, which then has to seek again.
  EXPECT_TRUE(has_thrown || s.ok() || call.may_be_fatal || (s.IsAborted() && call.is_scan)) << s.ToString();
  if (!has_thrown && s.ok() && call.is_done != nullptr) {
    EXPECT_TRUE(call.is_done(shop)) << "it returned OK, and nothing was done";
  }
  const Status again = call.run(shop);
  // If memory has run out after a record of the MANIFEST was written, only an Open shows the state of the disk.
  const bool is_fatal = again.severity() == Status::Severity::kFatal;
  EXPECT_TRUE(!is_fatal || call.may_be_fatal) << again.ToString();
  *fatal_errors += is_fatal ? 1 : 0;
  EXPECT_TRUE(is_fatal || call.repeats_fail || again.ok()) << again.ToString();
  for (int i = 0; i < kAfter && !is_fatal; ++i) {
    EXPECT_EQ(shop.db->Put({}, "after" + std::to_string(i), ValueOf(i, i)).ToString(), "OK");
  }
  if (!is_fatal) {
    EXPECT_EQ(shop.db->Flush({}).ToString(), "OK");
    EXPECT_EQ(shop.db->CompactRange({}, nullptr, nullptr).ToString(), "OK");
  }
  shop.ExpectContents();
  shop.DestroyHandles();
  const Status closed = shop.db->Close();
  EXPECT_TRUE(is_fatal || closed.ok()) << closed.ToString();
  shop.db.reset();
  std::vector<std::string> names;
  EXPECT_TRUE(DB::ListColumnFamilies(shop.options, kStorePath, &names).ok());
  std::erase(names, kDefaultColumnFamilyName);
  shop.MustOpenWith(names);
  shop.ExpectContents();
  for (int i = 0; i < kAfter && !is_fatal; ++i) {
    EXPECT_EQ(shop.GetFrom(shop.handles[0], "after" + std::to_string(i)), ValueOf(i, i));
  }
  shop.Close();
  EXPECT_EQ(shop.Verify(), "");
  return refused != 0;
}

class CallMemoryTest : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CallMemoryTest, EverythingGoesOnAfterAFailedAllocation) {
  const Call call = Calls()[GetParam()];
  for (const bool has_filter : {false, true}) {
    std::uint64_t granted = 0;
    int fatal_errors = 0;
    while (Try(call, granted, has_filter, &fatal_errors) && !HasFailure()) ++granted;
    EXPECT_LE(fatal_errors * 2, static_cast<int>(granted)) << "most failures leave a database that goes on";
    EXPECT_FALSE(HasFailure()) << call.name << ", after " << granted << " allocations, filter: " << has_filter;
  }
}

// Lets each allocation of this call fail.
void TryAll(const std::string& name) {
  for (const Call& call : Calls()) {
    int fatal_errors = 0;
    std::uint64_t granted = 0;
    while (call.name == name && Try(call, granted, /*has_filter=*/true, &fatal_errors)) ++granted;
  }
}

TEST(CallMemoryMutantTest, AClaimThatIsLeftBehindIsNoticed) {
  const auto leave_claim = [] {
    const MutantScope mutant(Mutant::kExceptionKeepsClaim);
    TryAll("CompactRange");
  };
  EXPECT_DEATH(leave_claim(), "a call waits, but no task is left");
}

TEST(CallMemoryMutantTest, AViewThatIsInstalledByAFailedCallIsNoticed) {
  const auto fail_late = [] {
    const MutantScope mutant(Mutant::kViewRetiredTooLate);
    TryAll("Flush");
  };
  EXPECT_DEATH(fail_late(), "a table is flushed once");
}

INSTANTIATE_TEST_SUITE_P(All, CallMemoryTest, ::testing::Range<std::size_t>(0, Calls().size()),
                         [](const auto& its) { return std::string(Calls()[its.param].name); });

}  // namespace
}  // namespace cambium::testing
