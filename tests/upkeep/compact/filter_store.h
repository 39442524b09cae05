// FilterStore: a TestStore whose default family has a compaction filter that a test decides.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "cambium/compaction_filter.h"
#include "testing/test_store.h"
#include "util/fault_point.h"

namespace cambium::testing::filter_tests {

using Decision = CompactionFilter::Decision;

// Decides by functions, and counts the calls.
class TestFilter final : public CompactionFilter {
 public:
  using ByKey = std::function<Decision(const std::string& key, std::string* new_value, std::string* skip_until)>;
  using ByValue =
      std::function<Decision(const std::string& key, Slice value, std::string* new_value, std::string* skip_until)>;

  Decision FilterBlobByKey(int /*level*/, const Slice& key, std::string* new_value,
                           std::string* skip_until) const override {
    ++keys_asked;
    return by_key ? by_key(key.ToString(), new_value, skip_until) : Decision::kUndetermined;
  }
  Decision FilterV2(int /*level*/, const Slice& key, ValueType /*type*/, const Slice& value, std::string* new_value,
                    std::string* skip_until) const override {
    ++values_asked;
    ++shown[key.ToString()];
    return by_value ? by_value(key.ToString(), value, new_value, skip_until) : Decision::kKeep;
  }
  [[nodiscard]] bool IgnoreSnapshots() const override { return ignores_snapshots; }
  [[nodiscard]] const char* Name() const override { return "TestFilter"; }

  ByKey by_key;
  ByValue by_value;
  bool ignores_snapshots = true;
  mutable int keys_asked = 0;
  mutable int values_asked = 0;
  mutable std::map<std::string, int> shown;
};

inline TestFilter::ByValue RemovesIf(std::function<bool(const std::string&)> is_removed) {
  return [is_removed = std::move(is_removed)](const std::string& key, Slice, std::string*, std::string*) {
    return is_removed(key) ? Decision::kRemove : Decision::kKeep;
  };
}
inline TestFilter::ByValue RemovesValue(const std::string& removed) {
  return [removed](const std::string&, Slice value, std::string*, std::string*) {
    return value == Slice(removed) ? Decision::kRemove : Decision::kKeep;
  };
}

// Sizes for inline values, separated values, and values with a file of their own.
inline constexpr std::size_t kSizes[] = {20, 1000, 10'000};

inline std::string ValueOf(int i, std::size_t size) { return NumberedKey(i) + std::string(size, 'v'); }

struct FilterStore : TestStore {
  FilterStore() { options.compaction_filter = &filter; }
  ~FilterStore() { db.reset(); }
  TestFilter filter;
};

// Calls `step` once, at a fault point.
class At {
 public:
  At(const std::string& place, std::function<void()> step) {
    FaultPoints::Instance().Set([this, place, step = std::move(step)](const char* name) {
      if (place == name && !std::exchange(done_, true)) step();
    });
  }
  ~At() { FaultPoints::Instance().Set(nullptr); }
  At(const At&) = delete;
  At& operator=(const At&) = delete;
  [[nodiscard]] bool done() const { return done_; }

 private:
  bool done_ = false;
};

}  // namespace cambium::testing::filter_tests
