#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// Compares letters without case: an order other than bytewise, in which keys with different bytes may be equal.
class CaselessComparator final : public Comparator {
 public:
  int Compare(Slice a, Slice b) const override {
    const std::size_t n = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < n; ++i) {
      const int order = Fold(a[i]) - Fold(b[i]);
      if (order != 0) return order;
    }
    return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  }
  const char* Name() const override { return "test.Caseless"; }
  bool EqualMeansSameBytes() const override { return false; }

 private:
  static int Fold(char c) { return std::tolower(static_cast<unsigned char>(c)); }
};

const Comparator* Caseless() {
  static const CaselessComparator comparator;
  return &comparator;
}

struct KeyOrder {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};

// A version of a key, with its own copy of the bytes.
struct Owned {
  EntryKind kind = EntryKind::kTombstone;
  std::uint64_t word = 0;
  std::string inline_value;
  SequenceNumber seq = 0;
  std::string key;

  static Owned From(Slice key, SequenceNumber seq, const Entry& entry) {
    return {entry.kind, entry.HasAddress() ? entry.address.word() : 0, entry.inline_value.ToString(), seq,
            key.ToString()};
  }
  [[nodiscard]] Entry entry() const { return {kind, ValueAddress(word), inline_value}; }
  bool operator==(const Owned&) const = default;
};

// All versions ever added, by key and sequence number.
class Model {
 public:
  explicit Model(const Comparator* comparator) : keys_(KeyOrder{comparator}) {}

  void Add(const Owned& version) { keys_[version.key][version.seq] = version; }
  [[nodiscard]] std::optional<Owned> Find(const std::string& key, SequenceNumber read_seq) const {
    const auto it = keys_.find(key);
    return it == keys_.end() ? std::nullopt : Visible(it->second, read_seq);
  }
  [[nodiscard]] std::vector<Owned> All(SequenceNumber read_seq) const {
    std::vector<Owned> all;
    for (const auto& [key, versions] : keys_) {
      if (auto visible = Visible(versions, read_seq)) all.push_back(*visible);
    }
    return all;
  }
  [[nodiscard]] std::size_t key_count() const { return keys_.size(); }

 private:
  using Versions = std::map<SequenceNumber, Owned>;
  static std::optional<Owned> Visible(const Versions& versions, SequenceNumber read_seq) {
    auto it = versions.upper_bound(read_seq);
    if (it == versions.begin()) return std::nullopt;
    return std::prev(it)->second;
  }
  std::map<std::string, Versions, KeyOrder> keys_;
};

std::string Describe(const EntryCursor& cursor) {
  const Entry entry = cursor.entry();
  return cursor.key().ToString(true) + " " + std::to_string(static_cast<int>(entry.kind)) + " " +
         std::to_string(entry.HasAddress() ? entry.address.word() : 0) + " " + entry.inline_value.ToString(true);
}
std::string Describe(const Owned& version) {
  return Slice(version.key).ToString(true) + " " + std::to_string(static_cast<int>(version.kind)) + " " +
         std::to_string(version.word) + " " + Slice(version.inline_value).ToString(true);
}

Owned RandomVersion(Prng* prng, std::string key, SequenceNumber seq) {
  Owned version{EntryKind::kTombstone, 0, {}, seq, std::move(key)};
  switch (prng->Uniform(4)) {
    case 0: break;
    case 1:
      version.kind = EntryKind::kInline;
      version.inline_value = prng->Bytes(prng->OneIn(100) ? 4096 : prng->Skewed(8));
      break;
    case 2:
      version.kind = EntryKind::kLargeValue;
      version.word = ValueAddress::OwnFile(Slot{static_cast<std::uint32_t>(prng->Uniform(100))}, 300000).word();
      break;
    default:
      version.kind = EntryKind::kValue;
      version.word = ValueAddress::InLog(Slot{7}, prng->Uniform(1000000) * 8, 1 + prng->Uniform(5000)).word();
  }
  return version;
}

// Keys of several kinds: short ones with zeros and shared prefixes, long ones that differ near their end, numbered
// ones.
std::string RandomKey(Prng* prng) {
  static constexpr char kLetters[] = {'\0', 'a', 'A', 'b', 'B', '\xff'};
  switch (prng->Uniform(8)) {
    case 0: return {};
    case 1: return std::string(prng->Uniform(20), 'k');
    case 2: return std::string(300, 'p') + std::to_string(prng->Uniform(500));
    case 3: return "customer/000" + std::to_string(prng->Uniform(3000));
    case 4: return "customer/000/order/" + std::to_string(prng->Uniform(3000));
    case 5: return prng->OneIn(50) ? prng->Bytes(prng->Uniform(3000)) : prng->Bytes(2);
    default: {
      std::string key;
      for (std::uint64_t n = prng->Uniform(12); n > 0; --n) key += kLetters[prng->Uniform(sizeof(kLetters))];
      return key;
    }
  }
}

void AddReserved(MemTable* table, const Owned& version) {
  ASSERT_TRUE(table->Reserve(1, version.key.size() + version.inline_value.size()).ok());
  table->Add(version.seq, version.key, version.entry());
}

class MemTableTest : public ::testing::TestWithParam<const Comparator* (*)()> {
 protected:
  [[nodiscard]] const Comparator* comparator() const { return GetParam()(); }
};

std::string NameOf(const ::testing::TestParamInfo<const Comparator* (*)()>& order) {
  const std::string name = order.param()->Name();
  return name.substr(name.find('.') + 1);
}
INSTANTIATE_TEST_SUITE_P(Orders, MemTableTest,
                         ::testing::Values(&BytewiseComparator, &ReverseBytewiseComparator, &Caseless), &NameOf);

TEST_P(MemTableTest, EmptyTableHasNoEntriesAndTakesNoMemory) {
  MemTable table(comparator());
  Entry entry;
  EXPECT_FALSE(table.Find("", kMaxSequenceNumber, &entry));
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.memory_bytes(), 0u);
  auto cursor = table.NewCursor(kMaxSequenceNumber);
  EXPECT_FALSE(cursor->Valid());
  cursor->SeekToFirst();
  EXPECT_FALSE(cursor->Valid());
  cursor->SeekToLast();
  EXPECT_FALSE(cursor->Valid());
  cursor->Seek("a");
  EXPECT_FALSE(cursor->Valid());
  cursor->SeekForPrev("a");
  EXPECT_FALSE(cursor->Valid());
  EXPECT_TRUE(cursor->status().ok());
  EXPECT_TRUE(table.CheckInvariants().ok());
}

TEST_P(MemTableTest, FindReturnsTheNewestVersionUpToTheReadSequence) {
  MemTable table(comparator());
  ASSERT_TRUE(table.Reserve(4, 100).ok());
  table.Add(5, "k", Entry::Inline("five"));
  table.Add(7, "k", Entry::Tombstone());
  table.Add(9, "k", Entry::At(ValueAddress::InLog(Slot{3}, 64, 100)));
  table.Add(11, "", Entry::Inline(""));
  Entry entry;
  SequenceNumber seq = 0;
  EXPECT_FALSE(table.Find("k", 4, &entry, &seq));
  ASSERT_TRUE(table.Find("k", 6, &entry, &seq));
  EXPECT_EQ(seq, 5u);
  EXPECT_EQ(entry.kind, EntryKind::kInline);
  EXPECT_EQ(entry.inline_value, Slice("five"));
  ASSERT_TRUE(table.Find("k", 7, &entry, &seq));
  EXPECT_EQ(seq, 7u);
  EXPECT_EQ(entry.kind, EntryKind::kTombstone);
  ASSERT_TRUE(table.Find("k", kMaxSequenceNumber, &entry, &seq));
  EXPECT_EQ(seq, 9u);
  EXPECT_EQ(entry.address, ValueAddress::InLog(Slot{3}, 64, 100));
  EXPECT_FALSE(table.Find("", 10, &entry));
  ASSERT_TRUE(table.Find("", 11, &entry));
  EXPECT_EQ(entry.kind, EntryKind::kInline);
  EXPECT_TRUE(entry.inline_value.empty());
  EXPECT_FALSE(table.Find("kk", kMaxSequenceNumber, &entry));
  EXPECT_EQ(table.key_count(), 2u);
  EXPECT_EQ(table.version_count(), 4u);
}

// Random lookups at random sequence numbers up to `seq` + 1.
void ExpectFinds(const MemTable& table, const Model& model, SequenceNumber seq, Prng* prng) {
  for (int look = 0; look < 300; ++look) {
    const std::string key = RandomKey(prng);
    const SequenceNumber read_seq = prng->Uniform(seq + 2);
    const std::optional<Owned> expected = model.Find(key, read_seq);
    Entry entry;
    SequenceNumber found_seq = 0;
    ASSERT_EQ(table.Find(key, read_seq, &entry, &found_seq), expected.has_value());
    if (expected) {
      ASSERT_EQ(Owned::From(expected->key, found_seq, entry), *expected);
    }
  }
}

// Walks a cursor from end to end, in both directions.
void ExpectWholeWalks(EntryCursor* cursor, const std::vector<Owned>& all) {
  std::size_t at = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++at) {
    ASSERT_LT(at, all.size());
    ASSERT_EQ(Describe(*cursor), Describe(all[at]));
  }
  ASSERT_EQ(at, all.size());
  for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev()) {
    ASSERT_GT(at, 0u);
    ASSERT_EQ(Describe(*cursor), Describe(all[--at]));
  }
  ASSERT_EQ(at, 0u);
}

// Seeks a present or an absent key, and walks from there with changes of direction.
void ExpectSeekAndTurns(EntryCursor* cursor, const std::vector<Owned>& all, const Comparator* comparator, Prng* prng) {
  const std::string target = RandomKey(prng);
  const bool forward = prng->OneIn(2);
  const auto low = std::lower_bound(all.begin(), all.end(), target, [&](const Owned& a, const std::string& b) {
    return comparator->Compare(a.key, b) < 0;
  });
  auto position = low - all.begin();
  if (forward) {
    cursor->Seek(target);
  } else {
    cursor->SeekForPrev(target);
    if (low == all.end() || comparator->Compare(low->key, target) != 0) --position;
  }
  for (int turn = 0; turn < 20; ++turn) {
    const bool inside = position >= 0 && position < static_cast<std::ptrdiff_t>(all.size());
    ASSERT_EQ(cursor->Valid(), inside);
    if (!inside) break;
    ASSERT_EQ(Describe(*cursor), Describe(all[static_cast<std::size_t>(position)]));
    if (prng->OneIn(3)) {
      cursor->Prev();
      --position;
    } else {
      cursor->Next();
      ++position;
    }
  }
}

// Random versions of random keys, compared with a map of maps at random sequence numbers.
TEST_P(MemTableTest, AgreesWithAMapOfVersionsAtEverySequenceNumber) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x3e3);
  Prng prng(seed);
  for (std::uint64_t round = 0; round < 6 * testing::ScaleFromEnvironment(); ++round) {
    MemTable table(comparator());
    Model model(comparator());
    const std::uint64_t steps = 1 + prng.Skewed(13);
    SequenceNumber seq = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      seq += 1 + prng.Skewed(3);
      const Owned version = RandomVersion(&prng, RandomKey(&prng), seq);
      AddReserved(&table, version);
      model.Add(version);
    }
    ASSERT_TRUE(table.CheckInvariants().ok()) << table.CheckInvariants().ToString();
    ASSERT_EQ(table.key_count(), model.key_count());
    ASSERT_EQ(table.version_count(), steps);
    ASSERT_NO_FATAL_FAILURE(ExpectFinds(table, model, seq, &prng));
    for (const SequenceNumber read_seq : {SequenceNumber{0}, prng.Uniform(seq + 1), seq, kMaxSequenceNumber}) {
      const std::vector<Owned> all = model.All(read_seq);
      const auto cursor = table.NewCursor(read_seq);
      ASSERT_NO_FATAL_FAILURE(ExpectWholeWalks(cursor.get(), all));
      for (int seek = 0; seek < 100; ++seek) {
        ASSERT_NO_FATAL_FAILURE(ExpectSeekAndTurns(cursor.get(), all, comparator(), &prng));
      }
    }
  }
}

std::string Numbered(const char* prefix, std::uint64_t n) {
  char text[64];
  std::snprintf(text, sizeof(text), "%s%012llu", prefix, static_cast<unsigned long long>(n));
  return text;
}

// Many keys in several insertion orders: all are found, cursors are in order, invariants hold.
TEST_P(MemTableTest, LargeLoadsInAnyInsertionOrder) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x10ad);
  const std::uint64_t n = testing::ScaledCount(60000);
  for (const char* order : {"ascending", "descending", "random", "two ascending streams", "ends inwards"}) {
    SCOPED_TRACE(order);
    std::vector<std::uint64_t> numbers(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      switch (order[0]) {
        case 'd': numbers[i] = n - 1 - i; break;
        case 't': numbers[i] = i % 2 == 0 ? i / 2 : n / 2 + i / 2; break;
        case 'e': numbers[i] = i % 2 == 0 ? i / 2 : n - 1 - i / 2; break;
        default: numbers[i] = i;
      }
    }
    Prng prng(seed);
    if (order[0] == 'r') {
      for (std::uint64_t i = n - 1; i > 0; --i) std::swap(numbers[i], numbers[prng.Uniform(i + 1)]);
    }
    MemTable table(comparator());
    SequenceNumber seq = 0;
    for (const std::uint64_t number : numbers) {
      const std::string key = Numbered("some common prefix ", number);
      ASSERT_TRUE(table.Reserve(1, key.size()).ok());
      table.Add(++seq, key, Entry::At(ValueAddress::InLog(Slot{1}, number * 8, 100)));
    }
    ASSERT_TRUE(table.CheckInvariants().ok()) << table.CheckInvariants().ToString();
    ASSERT_EQ(table.key_count(), n);
    for (std::uint64_t i = 0; i < n; i += 7) {
      Entry entry;
      ASSERT_TRUE(table.Find(Numbered("some common prefix ", i), seq, &entry));
      ASSERT_EQ(entry.address.offset(), i * 8);
    }
    auto cursor = table.NewCursor(seq);
    std::uint64_t count = 0;
    std::string last;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next(), ++count) {
      if (count > 0) {
        ASSERT_LT(comparator()->Compare(last, cursor->key()), 0);
      }
      last = cursor->key().ToString();
    }
    ASSERT_EQ(count, n);
  }
}

// Loads in ascending or descending order, also several interleaved ones, must leave full leaves. Full leaves take 16
// bytes a key, half-full leaves 32. The record of a 16-byte key takes 33 bytes.
TEST(MemTableMemoryTest, OrderedLoadsFillLeavesAndRandomLoadsTwoThirdsOfThem) {
  static constexpr std::uint64_t kKeys = 50000;
  const auto bytes_per_key = [](auto number_of) {
    MemTable table(BytewiseComparator());
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      const std::string key = Numbered("key:", number_of(i));
      EXPECT_TRUE(table.Reserve(1, key.size()).ok());
      table.Add(i + 1, key, Entry::At(ValueAddress::InLog(Slot{1}, 0, 100)));
    }
    EXPECT_EQ(table.key_count(), kKeys);
    return static_cast<double>(table.memory_bytes()) / kKeys;
  };
  EXPECT_LT(bytes_per_key([](std::uint64_t i) { return i; }), 50.5);
  EXPECT_LT(bytes_per_key([](std::uint64_t i) { return kKeys - i; }), 50.5);
  EXPECT_LT(bytes_per_key([](std::uint64_t i) { return i % 4 * 1000000000 + i; }), 50.5);
  EXPECT_LT(bytes_per_key([](std::uint64_t i) { return i * 0x9e3779b97f4a7c15u >> 32; }), 60);
}

// No load may force a split at the end of a leaf for each key. Here each key falls between a full leaf and the leaf
// that was split off last. Leaves of one key each would take 1000 bytes a key.
TEST(MemTableMemoryTest, DescendingKeysAfterAscendingOnesDoNotMakeEmptyLeaves) {
  MemTable table(BytewiseComparator());
  SequenceNumber seq = 0;
  for (std::uint64_t block = 0; block < 20; ++block) {
    for (std::uint64_t i = 0; i < 63; ++i) {
      ASSERT_TRUE(table.Reserve(1, 16).ok());
      table.Add(++seq, Numbered("key:", block * 100000 + i), Entry::Tombstone());
    }
    for (std::uint64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(table.Reserve(1, 16).ok());
      table.Add(++seq, Numbered("key:", block * 100000 + 50000 - i), Entry::Tombstone());
    }
  }
  EXPECT_TRUE(table.CheckInvariants().ok());
  EXPECT_LT(table.memory_bytes() / table.key_count(), 70u);
}

// New versions of a key leave older ones readable, and take no slot in the tree. Each eighth takes 20 bytes more.
TEST(MemTableMemoryTest, NewVersionOfAKeyTakesOnlyARecord) {
  MemTable table(BytewiseComparator());
  ASSERT_TRUE(table.Reserve(10000, 10000 * 16).ok());
  table.Add(1, "0123456789abcdef", Entry::Tombstone());
  const std::size_t first = table.memory_bytes();
  for (SequenceNumber seq = 2; seq <= 10000; ++seq) {
    table.Add(seq, "0123456789abcdef", Entry::At(ValueAddress(std::uint64_t{1} << 60 | seq)));
  }
  EXPECT_EQ(table.memory_bytes(), first + 9999 * (8 + 1 + 16 + 8 + 8) + 10000 / 8 * 20);
  EXPECT_EQ(table.key_count(), 1u);
  EXPECT_EQ(table.version_count(), 10000u);
  Entry entry;
  ASSERT_TRUE(table.Find("0123456789abcdef", 5000, &entry));
  EXPECT_EQ(entry.address.word(), std::uint64_t{1} << 60 | 5000);
  EXPECT_TRUE(table.CheckInvariants().ok());
}

TEST(MemTableSizesTest, CountsTheNewestSeparatedValues) {
  MemTable table(BytewiseComparator());
  ASSERT_TRUE(table.Reserve(1000, 100'000).ok());
  const auto at = [](std::uint64_t size) { return Entry::At(ValueAddress::InLog(Slot(3), 4096, size)); };
  const auto expect = [&table](std::uint64_t count, std::uint64_t bytes) {
    EXPECT_EQ(table.newest_separated_count(), count);
    EXPECT_EQ(table.newest_separated_bytes(), bytes);
  };
  expect(0, 0);
  table.Add(1, "a", at(1024));
  table.Add(2, "b", at(2048));
  expect(2, 3072);
  table.Add(3, "a", at(64));
  expect(2, 2112);
  table.Add(4, "b", Entry::Inline("short"));
  expect(1, 64);
  table.Add(5, "a", Entry::Tombstone());
  expect(0, 0);
  table.Add(6, "a", at(512));
  expect(1, 512);
  EXPECT_EQ(table.separated_bytes(), 1024u + 2048 + 64 + 512) << "all versions";
}

// A Reserve covers every split that its Adds may cause, even if all of them hit full leaves. If it were too small, Add
// would run out of memory and abort the process.
TEST(MemTableReserveTest, CoversBatchesIntoFullLeaves) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x5e5);
  Prng prng(seed);
  for (int round = 0; round < 20; ++round) {
    MemTable table(BytewiseComparator());
    SequenceNumber seq = 0;
    std::uint64_t loaded = 0;
    for (int batch = 0; batch < 20; ++batch) {
      const std::uint64_t entries = 1 + prng.Skewed(11);
      const bool append = prng.OneIn(2);
      std::vector<std::string> keys;
      std::size_t bytes = 0;
      for (std::uint64_t i = 0; i < entries; ++i) {
        // Appended keys leave full leaves; the others then hit many different leaves.
        keys.push_back(append ? Numbered("", ++loaded) + "m"
                              : Numbered("", loaded == 0 ? 0 : prng.Uniform(loaded)) + prng.Bytes(2));
        bytes += keys.back().size();
      }
      ASSERT_TRUE(table.Reserve(entries, bytes).ok());
      for (const std::string& key : keys) table.Add(++seq, key, Entry::Tombstone());
    }
    ASSERT_TRUE(table.CheckInvariants().ok());
  }
}

TEST(MemTableReserveTest, ShortMemoryIsAbortedAndChangesNothing) {
  MemTable table(BytewiseComparator());
  ASSERT_TRUE(table.Reserve(1, 1).ok());
  table.Add(1, "a", Entry::Inline(""));
  const std::size_t bytes = table.memory_bytes();
  EXPECT_TRUE(table.Reserve(1, std::size_t{1} << 60).IsAborted());
  EXPECT_TRUE(table.Reserve(std::size_t{1} << 50, 0).IsAborted());
  EXPECT_TRUE(table.Reserve(SIZE_MAX, SIZE_MAX).IsAborted());
  EXPECT_EQ(table.memory_bytes(), bytes);
  EXPECT_EQ(table.key_count(), 1u);
  EXPECT_TRUE(table.CheckInvariants().ok());
  ASSERT_TRUE(table.Reserve(1, 1).ok());
  table.Add(2, "b", Entry::Inline(""));
  EXPECT_EQ(table.key_count(), 2u);
}

// Keys up to the largest legal size, and inline values whose size takes more than one varint byte.
TEST(MemTableSizesTest, LongKeysAndInlineValuesAreReadBack) {
  MemTable table(BytewiseComparator());
  Prng prng(1);
  std::map<std::string, std::string> model;
  SequenceNumber seq = 0;
  for (const std::size_t key_size : {0u, 1u, 7u, 8u, 9u, 127u, 128u, 16383u, 16384u, 65535u, 65536u}) {
    for (const std::size_t value_size : {0u, 1u, 127u, 128u, 4095u, 4096u}) {
      const std::string key = prng.Bytes(key_size);
      const std::string value = prng.Bytes(value_size);
      model[key] = value;
      ASSERT_TRUE(table.Reserve(1, key_size + value_size).ok());
      table.Add(++seq, key, Entry::Inline(value));
    }
  }
  auto cursor = table.NewCursor(kMaxSequenceNumber);
  cursor->SeekToFirst();
  for (const auto& [key, value] : model) {
    ASSERT_TRUE(cursor->Valid());
    EXPECT_EQ(cursor->key(), Slice(key));
    EXPECT_EQ(cursor->entry().inline_value, Slice(value));
    cursor->Next();
  }
  EXPECT_FALSE(cursor->Valid());
  EXPECT_TRUE(table.CheckInvariants().ok());
}

// A cursor stays correct while the writer inserts around it and splits its leaf.
TEST(MemTableCursorTest, KeepsItsPositionWhileTheTableGrows) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xc0);
  Prng prng(seed);
  MemTable table(BytewiseComparator());
  SequenceNumber seq = 0;
  std::vector<std::string> at_start;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    at_start.push_back(Numbered("", i * 1000));
    ASSERT_TRUE(table.Reserve(1, 12).ok());
    table.Add(++seq, at_start.back(), Entry::Tombstone());
  }
  const SequenceNumber read_seq = seq;
  auto cursor = table.NewCursor(read_seq);
  cursor->Seek(at_start[1000]);
  std::size_t at = 1000;
  for (int step = 0; step < 20000; ++step) {
    ASSERT_TRUE(cursor->Valid());
    ASSERT_EQ(cursor->key(), Slice(at_start[at]));
    const bool forward = at == 0 || (at + 1 < at_start.size() && prng.Uniform(100) < 55);
    forward ? cursor->Next() : cursor->Prev();
    forward ? ++at : --at;
    const std::uint64_t near = at * 1000 + prng.Uniform(2000);
    ASSERT_TRUE(table.Reserve(1, 12).ok());
    table.Add(++seq, Numbered("", near < 1000 ? 0 : near - 1000), Entry::Tombstone());
  }
  EXPECT_TRUE(table.CheckInvariants().ok());
}

}  // namespace
}  // namespace cambium
