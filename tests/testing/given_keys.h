// GivenKeys: a comparator of keys with a fixed width, like those that users write. It reports each key that it is asked
// about and that the test has not given to the database: an empty key, or the prefix of a key, would make such a
// comparator read out of bounds.
#pragma once

#include <string>
#include <unordered_set>

#include "cambium/comparator.h"
#include "util/mutex.h"

namespace cambium::testing {

class GivenKeys final : public Comparator {
 public:
  static constexpr std::size_t kWidth = 8;

  // The only one of the process. Checks nothing until Begin.
  static GivenKeys* Get() {
    static GivenKeys comparator;
    return &comparator;
  }

  // From now on, `keys` are the keys that were given.
  void Begin(std::unordered_set<std::string> keys) {
    const MutexLock lock(mutex_);
    given_ = std::move(keys);
    wrong_.clear();
    checks_ = true;
  }
  // Ends the check. Returns "", or the first key that was not given.
  std::string End() {
    const MutexLock lock(mutex_);
    checks_ = false;
    return wrong_;
  }

  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    Check(a);
    Check(b);
    return a.compare(b);
  }
  [[nodiscard]] const char* Name() const override { return "test.GivenKeys"; }

 private:
  void Check(Slice key) const {
    const MutexLock lock(mutex_);
    if (!checks_ || !wrong_.empty() || (key.size() == kWidth && given_.contains(key.ToString()))) return;
    wrong_ = "the comparator is asked about a key that was not given: \"" + key.ToString() + "\" of " +
             std::to_string(key.size()) + " bytes";
  }

  mutable Mutex mutex_;
  bool checks_ CAMBIUM_GUARDED_BY(mutex_) = false;
  std::unordered_set<std::string> given_ CAMBIUM_GUARDED_BY(mutex_);
  mutable std::string wrong_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium::testing
