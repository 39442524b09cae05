// Several families with values in the index on a full disk: what each of them needs for its compaction adds up.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/space/full_disk.h"

namespace cambium::testing::full_disk_families_test {
namespace {

constexpr Kind kHundred = {"100 B", 100, 101, 24 * kMiB};

class Families {
 public:
  Families(std::size_t count, std::uint64_t seed) : disk_(kHundred, false, seed), prng_(seed), models_(count) {
    disk_.store->options.write_buffer_size = Options().write_buffer_size;
    disk_.store->MustOpen();
    for (std::size_t i = 0; i < count; ++i) {
      ColumnFamilyHandle* handle = nullptr;
      const ColumnFamilyOptions options(disk_.store->options);
      EXPECT_TRUE(db()->CreateColumnFamily(options, "family" + std::to_string(i), &handle).ok());
      handles_.push_back(handle);
    }
  }
  ~Families() {
    for (ColumnFamilyHandle* handle : handles_) EXPECT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  }

  // Writes until nothing fits. Returns how many puts have fitted.
  std::uint64_t Fill() {
    std::uint64_t count = 0;
    for (int refused = 0; refused < 3;) {
      const std::size_t family = prng_.Uniform(handles_.size());
      const std::string key = "key" + std::to_string(prng_.Uniform(1'000'000'000));
      const std::string value = prng_.Bytes(100);
      const Status s = db()->Put({}, handles_[family], key, value);
      if (s.ok()) {
        models_[family][key] = value;
        ++count;
        refused = 0;
      } else {
        EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
        ++refused;
        disk_.store->executor->RunAll();
      }
      disk_.RunOneMaybe();
    }
    return count;
  }
  // Deletes a share of the keys of each family. Returns "" or the first error.
  std::string Delete(std::size_t percent) {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      std::map<std::string, std::string>& model = models_[i];
      for (std::size_t left = model.size() * percent / 100; left > 0; --left) {
        auto victim = model.lower_bound("key" + std::to_string(prng_.Uniform(1'000'000'000)));
        if (victim == model.end()) victim = model.begin();
        const Status s = db()->Delete({}, handles_[i], victim->first);
        if (!s.ok()) return "family " + std::to_string(i) + ": " + s.ToString() + "\n" + disk_.Space();
        model.erase(victim);
        disk_.RunOneMaybe();
      }
    }
    return "";
  }
  [[nodiscard]] std::string Check() const {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const std::unique_ptr<Iterator> it(disk_.store->db->NewIterator({}, handles_[i]));
      auto expected = models_[i].begin();
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
        const bool is_right = expected != models_[i].end() && it->key() == Slice(expected->first) &&
                              it->value() == Slice(expected->second);
        if (!is_right) {
          return "family " + std::to_string(i) + " has a wrong " + it->key().ToString();
        }
      }
      if (!it->status().ok()) return it->status().ToString();
      if (expected != models_[i].end()) return "family " + std::to_string(i) + " lacks " + expected->first;
    }
    return "";
  }
  [[nodiscard]] Disk& disk() { return disk_; }

 private:
  [[nodiscard]] DB* db() const { return disk_.store->db.get(); }

  Disk disk_;
  Prng prng_;
  std::vector<std::map<std::string, std::string>> models_;
  std::vector<ColumnFamilyHandle*> handles_;
};

// Returns "" or what went wrong.
std::string DeleteAndWriteAgain(std::size_t families, const std::vector<std::size_t>& percents, std::uint64_t seed) {
  Families all(families, seed);
  all.Fill();
  if (!all.disk().IsFull()) return "it is not full";
  for (const std::size_t percent : percents) {
    const std::string step = std::to_string(percent) + " %: ";
    if (std::string wrong = all.Delete(percent); !wrong.empty()) return step + wrong;
    all.disk().LetItRun();
    if (std::string wrong = all.Check(); !wrong.empty()) return step + wrong;
    if (all.disk().IsFull()) return step + "the disk stays full\n" + all.disk().Space();
    const std::uint64_t least = percent < 10 ? 20 : kHundred.quota / 100 * percent / 800;
    if (all.Fill() < least) return step + "few bytes could be put again\n" + all.disk().Space();
  }
  return all.Check() + all.disk().store->Verify();
}

TEST(FullDiskFamiliesTest, PutsAreAcceptedAgainAfterDeletes) {
  const std::uint64_t first = SeedFromEnvironment(23);
  for (std::uint64_t seed = first; seed < first + ScaleFromEnvironment(); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    EXPECT_EQ(DeleteAndWriteAgain(10, {3, 10, 50}, seed), "");
  }
}

}  // namespace
}  // namespace cambium::testing::full_disk_families_test
