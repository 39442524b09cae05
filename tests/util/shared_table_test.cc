#include "util/shared_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

using Table = SharedTable<std::pair<std::uint64_t, std::string>>;
using Model = std::map<std::uint64_t, std::string>;

void ExpectSame(const Table& table, const Model& model) {
  ASSERT_EQ(table.size(), model.size());
  ASSERT_EQ(table.empty(), model.empty());
  auto row = table.begin();
  for (const auto& [key, value] : model) {
    ASSERT_NE(row, table.end());
    ASSERT_EQ(row->first, key);
    ASSERT_EQ(row->second, value);
    ++row;
  }
  ASSERT_EQ(row, table.end());
  if (!model.empty()) {
    ASSERT_EQ(table.front().first, model.begin()->first);
  }
}

// Random changes of one table, of which copies are taken. Each copy keeps the rows of its moment.
void RunProgram(std::uint64_t seed) {
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  const std::uint64_t keys = 1 + prng.Uniform(prng.OneIn(2) ? 100 : 2'000);
  Table table;
  Model model;
  std::vector<std::pair<Table, Model>> copies;
  const std::uint64_t shrinks_in = 2 + prng.Uniform(6);
  for (int i = 0; i < 3'000; ++i) {
    const std::uint64_t key = prng.Uniform(keys);
    if (prng.OneIn(shrinks_in) || (i > 2'000 && prng.Uniform(3) != 0)) {
      ASSERT_EQ(table.erase(key), model.erase(key));
    } else if (prng.OneIn(4)) {
      auto* const row = table.Mutable(key);
      const auto its = model.find(key);
      ASSERT_EQ(row != nullptr, its != model.end());
      if (row != nullptr) row->second = its->second = std::to_string(i);
    } else {
      table.Set({key, std::to_string(i)});
      model[key] = std::to_string(i);
    }
    const auto found = table.find(key);
    ASSERT_EQ(found != table.end(), model.contains(key));
    ASSERT_EQ(table.contains(key), model.contains(key));
    if (found != table.end()) {
      ASSERT_EQ(found->second, model.at(key));
    }
    if (prng.OneIn(300)) copies.emplace_back(table, model);
  }
  ExpectSame(table, model);
  for (const auto& [copy, its] : copies) ExpectSame(copy, its);
}

TEST(SharedTableTest, BehavesAsAMapAndCopiesDoNotChange) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(100); ++seed) RunProgram(seed);
}

TEST(SharedTableTest, EqualityComparesRows) {
  Table a;
  Table b;
  EXPECT_TRUE(a == b);
  for (std::uint64_t key = 0; key < 200; ++key) a.Set({key, "v"});
  for (std::uint64_t key = 200; key-- > 0;) b.Set({key, "v"});
  EXPECT_TRUE(a == b) << "rows count, not how they are divided";
  b.Set({7, "w"});
  EXPECT_FALSE(a == b);
  b.erase(7);
  EXPECT_FALSE(a == b);
}

// Counts copies of rows, and throws at a chosen one.
struct Counted {
  explicit Counted(int its_key) : key(its_key) {}
  Counted(const Counted& other) : key(other.key) {
    if (copies_left-- == 0) throw std::runtime_error("copy");
    ++copies;
  }
  Counted& operator=(const Counted& other) {
    if (copies_left-- == 0) throw std::runtime_error("copy");
    ++copies;
    key = other.key;
    return *this;
  }
  int key;
  static int copies;
  static int copies_left;
};
int Counted::copies = 0;
int Counted::copies_left = -1;
struct KeyOfCounted {
  int operator()(const Counted& row) const { return row.key; }
};
using CountedTable = SharedTable<Counted, KeyOfCounted>;

std::vector<int> KeysOf(const CountedTable& table) {
  std::vector<int> keys;
  for (const Counted& row : table) keys.push_back(row.key);
  return keys;
}

TEST(SharedTableTest, AChangeCopiesFewRows) {
  CountedTable table;
  for (int key = 0; key < 100'000; ++key) table.Set(Counted(key));
  CountedTable copy = table;
  Counted::copies = 0;
  copy.Set(Counted(50'000));
  copy.erase(70'000);
  copy.Set(Counted(-1));
  ASSERT_NE(copy.Mutable(5), nullptr);
  EXPECT_LE(Counted::copies, 4 * 2 * 65) << "each change copies a part, and once more if it splits";
  EXPECT_EQ(table.size(), 100'000u);
  EXPECT_EQ(copy.size(), 100'000u);
}

// Bytes: a copy has only pointers to groups of rows, and a change copies the nodes that lead to the row.
std::uint64_t BytesOfCopyAndChange(int rows) {
  using IntTable = SharedTable<std::pair<int, int>>;
  std::vector<IntTable::Change> changes;
  for (int key = 0; key < rows; ++key) changes.push_back({key, std::pair(key, key)});
  IntTable table;
  table.Apply(std::move(changes));
  const AllocatedBytes allocated;
  IntTable copy = table;
  copy.Set({rows / 2, 0});
  return allocated.get();
}

TEST(SharedTableTest, ChangeOfLargeTableAllocatesLittle) {
  const std::uint64_t few = BytesOfCopyAndChange(200);
  const std::uint64_t many = BytesOfCopyAndChange(40'000);
  EXPECT_LE(many, few + 4096) << "of a copy and a change of 40,000 rows; " << few << " with 200";
  const MutantScope mutant(Mutant::kGroupsOfOnePart);
  EXPECT_GT(BytesOfCopyAndChange(40'000), few + 4096);
}

// Many changes at once are those of a map, and copy each node once.
TEST(SharedTableTest, ChangesTogetherEqualChangesOneByOne) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledPrograms(30); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    Table table;
    Model model;
    for (int round = 0; round < 30; ++round) {
      const Table before = table;
      const Model model_before = model;
      std::map<std::uint64_t, std::optional<std::string>> drawn;
      for (std::uint64_t left = prng.Skewed(10); left > 0; --left) {
        const bool removes = prng.OneIn(2 + seed % 3);
        drawn[prng.Uniform(5'000)] = removes ? std::nullopt : std::optional(std::to_string(prng.Next()));
      }
      std::vector<Table::Change> changes;
      for (const auto& [key, value] : drawn) {
        changes.push_back({key, value.has_value() ? std::optional(std::pair(key, *value)) : std::nullopt});
        model.erase(key);
        if (value.has_value()) model.emplace(key, *value);
      }
      table.Apply(std::move(changes));
      ExpectSame(table, model);
      ExpectSame(before, model_before);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SharedTableTest, AChangeThatThrowsChangesNothing) {
  for (const int rows : {1, 5, 64, 65, 200}) {
    CountedTable table;
    for (int key = 0; key < rows; ++key) table.Set(Counted(2 * key));
    const std::vector<int> before = KeysOf(table);
    const auto attempt = [&](const std::function<void()>& change) {
      int thrown = 0;
      for (int granted = 0;; ++granted) {
        Counted::copies_left = granted;
        try {
          change();
          Counted::copies_left = -1;
          break;
        } catch (const std::runtime_error&) {
          Counted::copies_left = -1;
          ++thrown;
          ASSERT_EQ(KeysOf(table), before) << granted;
          ASSERT_EQ(table.size(), before.size());
        }
      }
      EXPECT_GT(thrown, 0);
    };
    for (const int key : {-1, 0, 1, rows, 2 * rows}) {
      const CountedTable kept = table;
      attempt([&] { table.Set(Counted(key)); });
      table = kept;
    }
    attempt([&] { ASSERT_NE(table.Mutable(2 * (rows / 2)), nullptr); });
    if (rows > 1) attempt([&] { table.erase(0); });
  }
}

}  // namespace
}  // namespace cambium::testing
