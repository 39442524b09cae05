// Disk: a database on a simulated disk of a few MiB, for tests of a full disk.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testing/test_store.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing {

// The kinds of values.
struct Kind {
  const char* name;
  std::size_t least;
  std::size_t most;
  std::uint64_t quota;
  std::size_t key_bytes = 0;  // keys are at least as long
  std::uint64_t min_blob_size = 512;
};
inline constexpr Kind kInline = {"inline", 100, 400, 6 * kMiB};
inline constexpr Kind kSeparated = {"1-64 KiB", kKiB, 64 * kKiB, 8 * kMiB};
inline constexpr Kind kLarge = {"256 KiB and more", 256 * kKiB, 400 * kKiB, 12 * kMiB};

enum class Way { kInOrder, kShuffled, kRange };

class Disk {
 public:
  Disk(const Kind& kind, bool delayed, std::uint64_t seed) : kind_(kind), prng_(seed) {
    SimOptions sim;
    sim.delayed_allocation = delayed;
    sim.quota_bytes = kind.quota;
    store = std::make_unique<TestStore>(sim);
    Options& options = store->options;
    options.write_buffer_size = 1 * kMiB;
    options.page_size = 4096;
    options.max_total_wal_size = 0;
    options.max_space_amplification = 1.5;
    options.min_blob_size = kind.min_blob_size;
    options.blob_file_size = 1 * kMiB;
    options.large_value_size = 300 * kKiB;
    UseIndexOfTest(&options);
  }

  // Writes until nothing fits. Returns the bytes of values that were written.
  std::uint64_t Fill() {
    std::uint64_t bytes = 0;
    for (int refused = 0; refused < 3;) {
      std::string key = "key" + std::to_string(next_++);
      key.resize(std::max(key.size(), kind_.key_bytes), '.');
      const std::string value = prng_.Bytes(kind_.least + prng_.Uniform(kind_.most - kind_.least));
      const Status s = store->db->Put({}, key, value);
      if (s.ok()) {
        bytes += value.size();
        refused = 0;
        model[key] = value;
      } else {
        EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
        if (s.severity() == Status::Severity::kFatal) ADD_FAILURE() << s.ToString();
        ++refused;
        store->executor->RunAll();  // the background always gets some turns
      }
      RunOneMaybe();
    }
    return bytes;
  }
  // Deletes all keys, one by one or by one range. Returns the first error, or OK.
  Status DeleteAll(Way way) {
    if (way == Way::kRange) {
      const Status s = store->db->DeleteRange({}, store->db->DefaultColumnFamily(), "key", "kez");
      if (s.ok()) model.clear();
      return s;
    }
    std::vector<std::string> keys;
    for (const auto& [key, value] : model) keys.push_back(key);
    if (way == Way::kShuffled) {
      for (std::size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[prng_.Uniform(i)]);
    }
    for (const std::string& key : keys) {
      const Status s = store->db->Delete({}, key);
      if (!s.ok()) return s;
      model.erase(key);
      RunOneMaybe();
    }
    return Status::OK();
  }
  // Runs the background for some seconds without calls.
  void LetItRun() {
    for (int second = 0; second < 20; ++second) {
      store->clock->Advance(1'000'000);
      store->executor->LetTimePass();
      store->executor->RunAll();
    }
  }
  void RunOneMaybe() {
    if (prng_.OneIn(8) && store->executor->pending() > 0) store->executor->RunOneInstead();
  }
  // Returns "" if the data equals the acknowledged writes.
  [[nodiscard]] std::string Check() {
    for (const auto& [key, value] : model) {
      if (store->Get(key) != value) return key + " is wrong";
    }
    const std::unique_ptr<Iterator> it(store->db->NewIterator({}));
    std::size_t count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
    if (!it->status().ok()) return it->status().ToString();
    return count == model.size() ? "" : std::to_string(count) + " keys instead of " + std::to_string(model.size());
  }
  [[nodiscard]] std::string Space() const {
    std::string figures;
    store->db->GetProperty("cambium.space", &figures);
    return figures;
  }
  [[nodiscard]] bool IsFull() const { return Space().find("is_disk_full: 1") != std::string::npos; }

  std::unique_ptr<TestStore> store;
  std::map<std::string, std::string> model;

 private:
  const Kind kind_;
  Prng prng_;
  std::uint64_t next_ = 0;
};

}  // namespace cambium::testing
