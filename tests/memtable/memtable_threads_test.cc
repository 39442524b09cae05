// One writer and concurrent readers. Also run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "memtable/memtable.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

constexpr std::uint64_t kAddsPerScale = testing::kUnderSanitizer ? 15000 : 100000;

// Each key is a function of its sequence number, so that every reader knows which entries it must find: number i adds
// key KeyOf(i) with address i.
enum class Arrival { kAscending, kDescending, kScattered, kFewKeys };

class MemTableThreadsTest : public ::testing::TestWithParam<Arrival> {
 protected:
  [[nodiscard]] std::string KeyOf(SequenceNumber i) const {
    std::uint64_t n = i;
    switch (GetParam()) {
      case Arrival::kAscending: break;
      case Arrival::kDescending: n = 1000000000 - i; break;
      case Arrival::kScattered: n = (i * 0x9e3779b97f4a7c15u) >> 40; break;
      case Arrival::kFewKeys: n = i * i % 97; break;
    }
    char text[32];
    std::snprintf(text, sizeof(text), "key/%012llu", static_cast<unsigned long long>(n));
    return text;
  }
  static Entry EntryOf(SequenceNumber i) { return Entry::At(ValueAddress(std::uint64_t{1} << 60 | i)); }
};

std::string NameOf(const ::testing::TestParamInfo<Arrival>& arrival) {
  static constexpr const char* kNames[] = {"Ascending", "Descending", "Scattered", "FewKeys"};
  return kNames[static_cast<int>(arrival.param)];
}
INSTANTIATE_TEST_SUITE_P(Arrivals, MemTableThreadsTest,
                         ::testing::Values(Arrival::kAscending, Arrival::kDescending, Arrival::kScattered,
                                           Arrival::kFewKeys),
                         &NameOf);

// Two readers look up keys published before they took their read sequence number, and walk the whole memtable in both
// directions at that number. They must see exactly the keys of the first `read_seq` Adds, each with the right version.
TEST_P(MemTableThreadsTest, ReadersSeeExactlyTheStateOfTheirSequenceNumber) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x7e4d);
  const SequenceNumber total = kAddsPerScale * testing::ScaleFromEnvironment();
  MemTable table(BytewiseComparator());
  std::atomic<SequenceNumber> published{0};

  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  std::atomic<std::uint64_t> lookups{0};
  const auto expect = [&](bool truth) {
    if (!truth) wrong.fetch_add(1);
  };
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      Prng prng(seed + static_cast<std::uint64_t>(r));
      SequenceNumber read_seq = 0;
      while (read_seq < total && wrong.load() == 0) {
        read_seq = published.load(std::memory_order_acquire);
        if (read_seq == 0) continue;
        for (int i = 0; i < 50; ++i) {
          const SequenceNumber added = prng.OneIn(2) ? prng.Between(1, read_seq)
                                                     : read_seq - prng.Uniform(std::min<SequenceNumber>(read_seq, 8));
          Entry entry;
          SequenceNumber seq = 0;
          const bool found = table.Find(KeyOf(added), read_seq, &entry, &seq);
          expect(found && seq >= added && seq <= read_seq && KeyOf(seq) == KeyOf(added));
          expect(!found || entry.address == EntryOf(seq).address);
          lookups.fetch_add(1, std::memory_order_relaxed);
        }
        auto cursor = table.NewCursor(read_seq);
        const std::string from = KeyOf(prng.Between(1, read_seq));
        cursor->Seek(from);
        expect(cursor->Valid() && cursor->key() == Slice(from));
        cursor->SeekForPrev(from);
        expect(cursor->Valid() && cursor->key() == Slice(from));
        if (!prng.OneIn(8) && read_seq < total) continue;
        std::vector<std::string> forward;
        for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
          forward.push_back(cursor->key().ToString());
          expect(forward.size() < 2 || forward[forward.size() - 2] < forward.back());
          const SequenceNumber seq = cursor->entry().address.word() & ~(std::uint64_t{0xf} << 60);
          expect(seq >= 1 && seq <= read_seq && KeyOf(seq) == forward.back());
        }
        std::size_t left = forward.size();
        for (cursor->SeekToLast(); cursor->Valid(); cursor->Prev()) {
          expect(left > 0 && cursor->key() == Slice(forward[left - 1]));
          if (left > 0) --left;
        }
        expect(left == 0);
        if (GetParam() != Arrival::kFewKeys && GetParam() != Arrival::kScattered) expect(forward.size() == read_seq);
      }
    });
  }
  for (SequenceNumber i = 1; i <= total; ++i) {
    const std::string key = KeyOf(i);
    const Status reserved = table.Reserve(1, key.size());
    if (!reserved.ok()) ++wrong;
    table.Add(i, key, EntryOf(i));
    published.store(i, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GT(lookups.load(), 0u);
  EXPECT_EQ(table.version_count(), total);
  EXPECT_TRUE(table.CheckInvariants().ok()) << table.CheckInvariants().ToString();
}

}  // namespace
}  // namespace cambium
