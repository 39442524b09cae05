// RunSweepPrograms: random programs of flushes, merges into the tree, sweep steps and reopens, with a check after each.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "testing/test_comparators.h"
#include "tree_family.h"
#include "util/prng.h"

namespace cambium::testing {

struct SweepProgramParam {
  const char* name;
  const Comparator* (*comparator)();
  std::uint32_t page_size;
};

inline auto SweepProgramParams() {
  return ::testing::Values(SweepProgramParam{"bytewise512", BytewiseComparator, 512},
                           SweepProgramParam{"bytewise4096", BytewiseComparator, 4096},
                           SweepProgramParam{"reverse512", ReverseBytewiseComparator, 512},
                           SweepProgramParam{"reverse4096", ReverseBytewiseComparator, 4096},
                           SweepProgramParam{"folding512", CaseFoldingComparator, 512},
                           SweepProgramParam{"folding4096", CaseFoldingComparator, 4096},
                           SweepProgramParam{"lengthfirst512", LengthFirstComparator, 512});
}

// Returns one of at most `space` different keys of unequal lengths. One of them is the empty key.
inline std::string RandomSweepKey(Prng& prng, std::uint64_t space) {
  const std::uint64_t n = prng.Uniform(space);
  if (n == 1) return {};
  std::string key = "key" + std::to_string(n * 7919 % space);
  if (n % 5 == 0) key += std::string(n % 23, 'x');
  if (n % 97 == 0) key = std::string(static_cast<std::size_t>(n % 700), 'L') + key;
  return key;
}

// Writes or deletes one key.
inline void RandomWrite(TreeFamily& family, Prng& prng, const std::string& key, unsigned delete_percent) {
  if (prng.Uniform(100) < delete_percent) {
    family.Delete(key);
  } else if (prng.OneIn(3)) {
    family.PutInline(key, prng.Bytes(prng.Uniform(100)));
  } else {
    family.Put(key, 64 + prng.Skewed(24));
  }
}

// Before each step, `write` fills the memtable. `space` is the number of different keys that it may use.
inline void RunSweepPrograms(const SweepProgramParam& param, std::uint64_t seed, std::uint64_t rounds,
                             const std::function<void(TreeFamily&, Prng&, std::uint64_t space)>& write) {
  Prng prng(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    TreeFamilyOptions options;
    options.comparator = param.comparator();
    options.page_size = param.page_size;
    options.segment_bytes_max = prng.OneIn(2) ? 8 * options.page_size : 64 * options.page_size;
    options.evacuation.small_segments_max = prng.Between(1, 4);
    TreeFamily family(options);
    const std::uint64_t space = prng.Between(2, 4000);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " round " + std::to_string(round) + " step " +
                   std::to_string(step));
      write(family, prng, space);
      const bool sweeping = family.layers().parts().sweep.has_value();
      Status s;
      switch (prng.Uniform(8)) {
        case 0:
        case 1: s = family.FlushRun(); break;
        case 2: s = sweeping ? family.FlushRun() : family.FlushIntoTree(); break;
        case 3: s = family.Flush(); break;
        case 4:
        case 5: s = family.Step(prng.Uniform(20) * options.page_size); break;
        case 6: s = family.Step(); break;
        case 7: s = family.Reopen(); break;
      }
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_TRUE((s = family.Check()).ok()) << s.ToString();
    }
    ASSERT_TRUE(family.pool().CheckInvariants(/*idle=*/true).ok());
  }
}

}  // namespace cambium::testing
