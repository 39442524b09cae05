#include "index/page_format.h"

#include "index/filter.h"
#include "index/page_builder.h"
#include "index_test_util.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "util/coding.h"

namespace cambium {
namespace {

using namespace cambium::testing;

constexpr std::uint64_t kSeed = 0x1234567890abcdefu;
constexpr std::uint64_t kFile = 7;

struct BuiltPage {
  ChildRef ref;
  std::string bytes;
  [[nodiscard]] Result<PageView> Parse() const { return PageView::Parse(bytes, "x", 0); }
};

// Moves as many entries as fit from the front of the model into a leaf.
BuiltPage BuildLeaf(Model* model, const Comparator* comparator, std::uint32_t page_size, Model* taken) {
  LeafBuilder builder(comparator, {page_size, 95});
  while (!model->empty() && builder.Fits(model->begin()->first, model->begin()->second.view())) {
    const Status status = builder.Add(model->begin()->first, model->begin()->second.view());
    EXPECT_TRUE(status.ok()) << status.ToString();
    taken->insert(model->extract(model->begin()));
  }
  const unsigned units = builder.units();
  EXPECT_LE(builder.used_bytes(), std::size_t{units} * page_size);
  const std::size_t used = builder.used_bytes();
  BuiltPage page;
  page.ref = builder.Finish(MakePageId(kFile, 3, units), kSeed, &page.bytes);
  EXPECT_TRUE(builder.empty());
  EXPECT_EQ(page.bytes.size(), std::size_t{units} * page_size);
  EXPECT_EQ(page.Parse()->used_bytes(), used);
  return page;
}

Model Numbered(std::size_t n) {
  Model model{KeyLess{BytewiseComparator()}};
  for (std::size_t i = 0; i < n; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "k%06zu", i);
    OwnedEntry entry;
    entry.kind = EntryKind::kValue;
    entry.word = ValueAddress::InLog(static_cast<Slot>(3), i * 64, 64).word();
    model[key] = entry;
  }
  return model;
}

// A small page with every kind of entry and unequal keys.
BuiltPage SmallPage() {
  Prng prng(5);
  Model model{KeyLess{BytewiseComparator()}};
  model["apple"] = {EntryKind::kInline, 0, "red"};
  model["apply"] = {EntryKind::kTombstone, 0, ""};
  model["appointment"] = {EntryKind::kValue, ValueAddress::InLog(static_cast<Slot>(9), 4096, 700).word(), ""};
  model["apron"] = {EntryKind::kLargeValue, ValueAddress::OwnFile(static_cast<Slot>(8), 1 << 25).word(), ""};
  Model taken{KeyLess{BytewiseComparator()}};
  return BuildLeaf(&model, BytewiseComparator(), 512, &taken);
}

BuiltPage SmallBranch(std::uint32_t children = 5) {
  BranchBuilder builder(BytewiseComparator(), {512, 95}, 1);
  for (std::uint32_t i = 0; i < children; ++i) {
    const std::string separator = "sep" + std::to_string(i * 7);
    EXPECT_TRUE(builder.Add(separator, {{MakePageId(kFile, 10 + i, 1), i * 99}, i + 1, i * 1000}).ok());
  }
  BuiltPage page;
  page.ref = builder.Finish(MakePageId(kFile, 3, builder.units()), kSeed, nullptr, &page.bytes);
  return page;
}

// A branch with a filter: child i has the i + 1 keys "i/0", "i/1", ...
BuiltPage FilteredBranch(std::uint32_t children = 5) {
  PageBuilderOptions options{512, 95};
  options.filter_bits_per_key = 10;
  BranchBuilder builder(BytewiseComparator(), options, 1);
  for (std::uint32_t i = 0; i < children; ++i) {
    const std::string separator = "sep" + std::to_string(1000 + i);
    EXPECT_TRUE(builder.Add(separator, {{MakePageId(kFile, 10 + i, 1), i * 99}, i + 1, i * 1000}).ok());
  }
  BranchFilterBuilder filter(builder.filter_blocks(), FilterProbesFor(10));
  for (std::uint32_t i = 0; i < children; ++i) {
    for (std::uint32_t k = 0; k <= i; ++k) filter.Add(FilterHash(std::to_string(i) + "/" + std::to_string(k)));
  }
  BuiltPage page;
  page.ref = builder.Finish(MakePageId(kFile, 3, builder.units()), kSeed, &filter, &page.bytes);
  return page;
}

// Repairs the checksum after the bytes were changed.
void RepairChecksum(BuiltPage* page) {
  EncodeFixed<std::uint64_t>(page->bytes.data(), PageChecksum(page->bytes, page->ref.page.id, 512, kSeed));
}

// Calls everything that a reader may call. The sanitizers check the accesses.
void ReadAll(const PageView& view) {
  static const std::string probes[] = {"", "a", "app", "apple", "appm", "apron", "zzz", std::string(300, 'a'),
                                       std::string(3, '\0'), std::string(5, '\xff')};
  std::string scratch;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < view.key_count(); ++i) {
    const Slice key = view.key(i, &scratch);
    ASSERT_LE(key.size(), kMaxKeySize);
    for (const char c : key) bytes += static_cast<unsigned char>(c);
  }
  for (std::uint32_t i = 0; i < view.count(); ++i) {
    if (view.is_leaf()) {
      for (const char c : view.entry(i).inline_value) bytes += static_cast<unsigned char>(c);
    } else {
      bytes += UnitsOf(view.child(i).page.id);
    }
  }
  for (const std::string& probe : probes) bytes += view.filter().MayContain(FilterHash(probe)) ? 1 : 0;
  for (const Comparator* comparator : AllComparators()) {
    for (const std::string& probe : probes) {
      bool equal = false;
      if (view.is_leaf()) {
        ASSERT_LE(view.LowerBound(probe, comparator, &equal), view.count());
      } else {
        ASSERT_LT(view.ChildFor(probe, comparator), view.count());
      }
    }
    bytes += view.CheckKeys(comparator, "x", 0).ok() ? 1 : 0;
  }
  bytes += view.used_bytes() + view.entry_count();
  ASSERT_GT(bytes, 0u);
}

// Random keys of every shape, in every order, in pages of every size: the page returns the entries that were added, and
// every search agrees with the model, for present, nearly present and absent keys.
TEST(PageFormatTest, LeafRoundTripsItsEntries) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  Prng prng(seed);
  for (const Comparator* comparator : AllComparators()) {
    for (const KeyShape shape : kAllShapes) {
      for (const std::uint32_t page_size : {512u, 4096u, 16384u}) {
        SCOPED_TRACE(std::string(comparator->Name()) + " shape " + std::to_string(static_cast<int>(shape)) + " page " +
                     std::to_string(page_size));
        const std::size_t n = shape == KeyShape::kLong ? 6 : 250;
        Model model = RandomModel(comparator, shape, n, page_size, &prng);
        if (shape == KeyShape::kMixed) model[""] = {};
        for (int round = 0; round < 3 && !model.empty(); ++round) {
          Model taken{KeyLess{comparator}};
          const BuiltPage page = BuildLeaf(&model, comparator, page_size, &taken);
          ASSERT_TRUE(VerifyPage(page.bytes, page.ref.page.id, page_size, kSeed, "x").ok());
          const Result<PageView> view = page.Parse();
          ASSERT_TRUE(view.ok()) << view.status().ToString();
          ASSERT_EQ(view->count(), taken.size());
          ASSERT_EQ(view->pointer(), page.ref.page);
          ASSERT_EQ(view->entry_count(), page.ref.entry_count);
          ASSERT_EQ(view->value_bytes(), page.ref.value_bytes);
          ASSERT_TRUE(view->CheckKeys(comparator, "x", 0).ok());
          std::uint32_t i = 0;
          std::string scratch;
          for (const auto& [key, entry] : taken) {
            ASSERT_EQ(view->key(i, &scratch), Slice(key));
            ASSERT_TRUE(entry.Is(view->entry(i)));
            bool equal = false;
            ASSERT_EQ(view->LowerBound(key, comparator, &equal), i);
            ASSERT_TRUE(equal);
            ++i;
          }
          for (int probe = 0; probe < 200; ++probe) {
            std::string target = RandomKey(shape, &prng, 40);
            if (prng.OneIn(2)) {
              auto near = taken.begin();
              std::advance(near, static_cast<long>(prng.Uniform(taken.size())));
              target = near->first;
              if (prng.OneIn(2) && !target.empty()) target.pop_back();
              if (prng.OneIn(2)) target.push_back(static_cast<char>(prng.Next()));
            }
            bool equal = false;
            const std::uint32_t found = view->LowerBound(target, comparator, &equal);
            ASSERT_EQ(found, static_cast<std::uint32_t>(std::distance(taken.begin(), taken.lower_bound(target))));
            ASSERT_EQ(equal, taken.contains(target));
          }
        }
      }
    }
  }
}

// The bytes of a version are those that FORMAT draws, and whatever is wrong with them is Corruption.
TEST(PageFormatTest, VersionLiesBeforeItsInlineValue) {
  const auto build = [] {
    LeafBuilder leaf(BytewiseComparator(), {512, 95});
    EXPECT_TRUE(leaf.Add("a", Entry::Inline("red", 0x1122334455)).ok());
    EXPECT_TRUE(leaf.Add("b", Entry::Inline("blue")).ok());
    EXPECT_TRUE(leaf.Add("c", Entry::Inline("", kMaxSequenceNumber)).ok());
    BuiltPage page;
    page.ref = leaf.Finish(MakePageId(kFile, 3, 1), kSeed, &page.bytes);
    return page;
  };
  const BuiltPage page = build();
  const Result<PageView> view = page.Parse();
  ASSERT_TRUE(view.ok()) << view.status().ToString();
  EXPECT_EQ(page.ref.value_bytes, 7u);  // versions do not count
  EXPECT_EQ(view->used_bytes(), 48u + 3 * 8 + 3 * 4 + 8 + 3 + 4 + 8);
  EXPECT_EQ(view->entry(0).version(), 0x1122334455u);
  EXPECT_EQ(view->entry(0).inline_value, Slice("red"));
  EXPECT_EQ(view->entry(1).version(), 0u);
  EXPECT_EQ(view->entry(1).inline_value, Slice("blue"));
  EXPECT_EQ(view->entry(2).version(), kMaxSequenceNumber);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(view->kind(i), EntryKind::kInline);
  const std::uint64_t heap = 48 + 3 * 8 + 3 * 4;
  constexpr std::uint64_t kWithVersion = 2ull << 60 | 1ull << 59;
  const auto word = [&](std::uint32_t i) { return DecodeFixed<std::uint64_t>(page.bytes.data() + 48 + i * 8); };
  EXPECT_EQ(word(0), kWithVersion | 3ull << 32 | (heap + 8));
  EXPECT_EQ(word(1), 2ull << 60 | 4ull << 32 | (heap + 11));
  EXPECT_EQ(word(2), kWithVersion | (heap + 23));
  EXPECT_EQ(DecodeFixed<std::uint64_t>(page.bytes.data() + heap), 0x1122334455u);

  const auto forged = [&](std::uint64_t offset, std::uint64_t value) {
    BuiltPage bad = page;
    EncodeFixed<std::uint64_t>(bad.bytes.data() + offset, value);
    return bad.Parse().status();
  };
  EXPECT_TRUE(forged(heap, 1).ok());
  EXPECT_TRUE(forged(heap, 0).IsCorruption());
  EXPECT_TRUE(forged(heap, kMaxSequenceNumber + 1).IsCorruption());
  EXPECT_TRUE(forged(48, kWithVersion | 3ull << 32 | (heap + 7)).IsCorruption());  // the version would be outside
  EXPECT_TRUE(forged(48, kWithVersion | 3ull << 32 | 510).IsCorruption());
  for (const std::uint64_t kind : {0, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}) EXPECT_FALSE(forged(48, kind << 60).ok());
}

TEST(PageFormatTest, BranchRoutesEveryKeyToItsChild) {
  Prng prng(SeedFromEnvironment(2));
  for (const Comparator* comparator : AllComparators()) {
    for (const KeyShape shape : kAllShapes) {
      const std::uint32_t page_size = 4096;
      Model model = RandomModel(comparator, shape, shape == KeyShape::kLong ? 4 : 60, page_size, &prng);
      BranchBuilder builder(comparator, {page_size, 95}, 2);
      std::vector<std::string> separators;
      for (const auto& [key, entry] : model) {
        const std::uint64_t i = separators.size();
        const ChildRef child{{MakePageId(kFile, 100 + i, 1), i * 11}, i, i * 100};
        if (!builder.Fits(key, child)) break;
        ASSERT_TRUE(builder.Add(key, child).ok());
        separators.push_back(key);
      }
      BuiltPage page;
      page.ref = builder.Finish(MakePageId(kFile, 3, builder.units()), kSeed, nullptr, &page.bytes);
      const Result<PageView> view = page.Parse();
      ASSERT_TRUE(view.ok()) << view.status().ToString();
      ASSERT_EQ(view->level(), 2u);
      ASSERT_EQ(view->count(), separators.size());
      ASSERT_EQ(view->key_count(), separators.size() - 1);
      ASSERT_TRUE(view->CheckKeys(comparator, "x", 0).ok());
      for (std::uint32_t i = 0; i < separators.size(); ++i) {
        ASSERT_EQ(view->ChildFor(separators[i], comparator), i);
        ASSERT_EQ(view->child(i), (ChildRef{{MakePageId(kFile, 100 + i, 1), i * 11}, i, i * 100}));
      }
      for (int probe = 0; probe < 300; ++probe) {
        const std::string target = RandomKey(shape, &prng, 40);
        const auto it = std::upper_bound(separators.begin() + 1, separators.end(), target, KeyLess{comparator});
        ASSERT_EQ(view->ChildFor(target, comparator), static_cast<std::uint32_t>(it - separators.begin() - 1));
      }
    }
  }
}

TEST(PageFormatTest, KeysOf64KiBFit) {
  LeafBuilder leaf(BytewiseComparator(), {4096, 95});
  const std::string key(kMaxKeySize, 'x');
  ASSERT_TRUE(leaf.Add(key, Entry::Inline(std::string(1024, 'v'))).ok());
  EXPECT_EQ(leaf.units(), 17u);
  EXPECT_TRUE(leaf.Add(std::string(kMaxKeySize + 1, 'x'), Entry::Tombstone()).IsInvalidArgument());
  EXPECT_TRUE(leaf.Add("y", Entry::Inline(std::string(1025, 'v'))).IsInvalidArgument());
  EXPECT_EQ(leaf.count(), 1u);

  // A branch of whole keys of that size still has four children.
  for (const std::uint32_t page_size : {512u, 1024u, 4096u, 16384u}) {
    BranchBuilder branch(ReverseBytewiseComparator(), {page_size, 95}, 1);
    for (int i = 0; i < 4; ++i) {
      const std::string separator(MaxKeySizeFor(page_size), static_cast<char>('z' - i));
      const ChildRef child{{MakePageId(kFile, 9, 1), 0}, 1, 0};
      ASSERT_TRUE(branch.Fits(separator, child));
      ASSERT_TRUE(branch.Add(separator, child).ok());
    }
    EXPECT_LE(branch.units(), kPageUnitsMax);
  }
}

TEST(PageFormatTest, BytesPerEntryAreAsDocumented) {
  Prng prng(3);
  LeafBuilder random(BytewiseComparator(), {4096, 100});
  Model model{KeyLess{BytewiseComparator()}};
  for (int i = 0; i < 300; ++i) model["abc" + prng.Bytes(13)] = {};
  for (const auto& [key, entry] : model) {
    if (!random.Fits(key, entry.view())) break;
    ASSERT_TRUE(random.Add(key, entry.view()).ok());
  }
  EXPECT_EQ(random.count(), (4096u - 48 - 8) / 21);

  LeafBuilder numbers(BytewiseComparator(), {4096, 100});
  for (std::uint64_t i = 0;; ++i) {
    std::string key;
    for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(i >> shift));
    key += "00000000";
    if (!numbers.Fits(key, Entry::Tombstone())) break;
    ASSERT_TRUE(numbers.Add(key, Entry::Tombstone()).ok());
  }
  EXPECT_GE(numbers.count(), 330u);  // 12 bytes each
}

TEST(PageFormatTest, AnyFlippedBitIsCorruption) {
  for (const BuiltPage& page : {SmallPage(), SmallBranch(), FilteredBranch()}) {
    ASSERT_TRUE(VerifyPage(page.bytes, page.ref.page.id, 512, kSeed, "x").ok());
    for (std::size_t bit = 0; bit < page.bytes.size() * 8; ++bit) {
      std::string damaged = page.bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const Status status = VerifyPage(damaged, page.ref.page.id, 512, kSeed, "000012.idx");
      ASSERT_TRUE(status.IsCorruption()) << "bit " << bit;
      ASSERT_NE(status.ToString().find("000012.idx:1536"), std::string::npos) << status.ToString();
    }
    for (std::size_t size = 0; size < page.bytes.size(); ++size) {
      ASSERT_TRUE(VerifyPage(Slice(page.bytes).substr(0, size), page.ref.page.id, 512, kSeed, "x").IsCorruption());
    }
  }
}

// Verifies the same bytes at another place of the file.
Status VerifyMisplaced(const BuiltPage& page) {
  return VerifyPage(page.bytes, MakePageId(kFile, 4, 1), 512, kSeed, "x");
}

TEST(PageFormatTest, PageIsBoundToItsPlace) {
  const BuiltPage page = SmallPage();
  EXPECT_TRUE(VerifyMisplaced(page).IsCorruption());
  EXPECT_TRUE(VerifyPage(page.bytes, page.ref.page.id, 512, kSeed + 1, "x").IsCorruption());
}

TEST(PageFormatTest, MutantPageSeedWithoutOffsetIsCaught) {
  const MutantScope mutant(Mutant::kPageSeedWithoutOffset);
  EXPECT_FALSE(VerifyMisplaced(SmallPage()).IsCorruption());
}

// Damage with a repaired checksum, as in a hostile file: every byte of small pages is set to telling values, then
// several places are changed at random. Nothing may be read outside the page, and every call must end.
TEST(PageFormatTest, HostilePagesAreRejectedOrHarmless) {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  const auto try_page = [&](BuiltPage page) {
    RepairChecksum(&page);
    // A heap copy of exactly the page's size, so that a sanitizer detects a read beyond it.
    const std::vector<char> exact(page.bytes.begin(), page.bytes.end());
    ASSERT_TRUE(VerifyPage({exact.data(), exact.size()}, page.ref.page.id, 512, kSeed, "x").ok() ||
                DecodeFixed<std::uint64_t>(exact.data() + 8) != static_cast<std::uint64_t>(page.ref.page.id));
    const Result<PageView> view = PageView::Parse({exact.data(), exact.size()}, "x", 0);
    if (view.ok()) {
      ++accepted;
      ReadAll(*view);
    } else {
      ++refused;
      ASSERT_TRUE(view.status().IsCorruption() || view.status().IsNotSupported());
    }
  };
  Prng prng(SeedFromEnvironment(4));
  Model fixed_keys = Numbered(20);
  Model taken{KeyLess{BytewiseComparator()}};
  LeafBuilder versions(BytewiseComparator(), {512, 95});
  for (const char* const key : {"apple", "apron"}) ASSERT_TRUE(versions.Add(key, Entry::Inline(key, 77)).ok());
  BuiltPage with_versions;
  with_versions.ref = versions.Finish(MakePageId(kFile, 3, 1), kSeed, &with_versions.bytes);
  const BuiltPage originals[] = {SmallPage(), with_versions, SmallBranch(), FilteredBranch(), SmallBranch(1),
                                 BuildLeaf(&fixed_keys, BytewiseComparator(), 512, &taken)};
  for (const BuiltPage& original : originals) {
    for (std::size_t i = 16; i < original.bytes.size(); ++i) {
      for (const int value : {0, 1, 2, 3, 0x7f, 0x80, 0xfe, 0xff}) {
        BuiltPage page = original;
        page.bytes[i] = static_cast<char>(value);
        try_page(std::move(page));
      }
    }
    for (std::size_t i = 16; i + 4 <= 120; i += 4) {
      for (const std::uint32_t value :
           {0x7fffffffu, 0x80000000u, 0xffffffffu, 0xfffffffeu, 0x10000u, 511u, 512u, 513u}) {
        BuiltPage page = original;
        EncodeFixed<std::uint32_t>(page.bytes.data() + i, value);
        try_page(std::move(page));
      }
    }
    for (std::uint64_t round = 0; round < ScaledCount(4000); ++round) {
      BuiltPage page = original;
      for (std::uint64_t change = prng.Between(1, 6); change > 0; --change) {
        // Mostly bytes of the header and the columns, which give the places of the other parts.
        const std::size_t i = prng.OneIn(3) ? prng.Between(16, 511) : prng.Between(16, 160);
        page.bytes[i] = static_cast<char>(prng.OneIn(2) ? prng.Next() : prng.Uniform(8));
      }
      try_page(std::move(page));
    }
  }
  EXPECT_GT(accepted, 1000u);
  EXPECT_GT(refused, 1000u);
}

// Kinds reserved for later versions are NotSupported; all others are Corruption.
TEST(PageFormatTest, UnknownEntryKindsAreRejected) {
  for (unsigned kind = 0; kind < 16; ++kind) {
    BuiltPage page = SmallPage();
    // The second entry is the tombstone; columns begin after header, "ap" and padding.
    char* word = page.bytes.data() + 56 + 8;
    ASSERT_EQ(DecodeFixed<std::uint64_t>(word), std::uint64_t{3} << 60);
    EncodeFixed<std::uint64_t>(word, std::uint64_t{kind} << 60);
    RepairChecksum(&page);
    const Result<PageView> view = page.Parse();
    if (kind == 3 || kind == 1 || kind == 5) {
      EXPECT_TRUE(view.ok()) << kind;  // a size of zero changes no sum
    } else if (kind == 4 || kind == 6) {
      EXPECT_TRUE(view.status().IsNotSupported()) << kind;
    } else {
      EXPECT_TRUE(view.status().IsCorruption()) << kind;
    }
  }
}

TEST(PageFormatTest, CheckKeysDetectsDisorder) {
  LeafBuilder builder(BytewiseComparator(), {512, 95});
  ASSERT_TRUE(builder.Add("b", Entry::Tombstone()).ok());
  ASSERT_TRUE(builder.Add("a", Entry::Tombstone()).ok());
  BuiltPage page;
  page.ref = builder.Finish(MakePageId(kFile, 3, 1), kSeed, &page.bytes);
  EXPECT_TRUE(page.Parse()->CheckKeys(BytewiseComparator(), "x", 0).IsCorruption());
  EXPECT_TRUE(SmallPage().Parse()->CheckKeys(ReverseBytewiseComparator(), "x", 0).IsCorruption());
}

// Regression: a cursor that compared heads walked over keys that were not in order.
TEST(PageFormatTest, HeadOfAnotherKeyIsDamage) {
  for (const char* const second : {"bbbbbb", "b"}) {  // with slots, and with a stride below a head
    LeafBuilder builder(BytewiseComparator(), {512, 95});
    ASSERT_TRUE(builder.Add("a", Entry::Tombstone()).ok());
    ASSERT_TRUE(builder.Add(second, Entry::Tombstone()).ok());
    BuiltPage page;
    page.ref = builder.Finish(MakePageId(kFile, 3, 1), kSeed, &page.bytes);
    ASSERT_TRUE(page.Parse().ok());
    page.bytes[kPageHeaderSize + 2 * kWordBytes] = 'x';  // the last byte of the first head
    EXPECT_TRUE(page.Parse().status().IsCorruption()) << second;
  }
}

TEST(PageBuilderTest, FillIsRespected) {
  Model model = Numbered(10000);
  LeafBuilder builder(BytewiseComparator(), {4096, 80});
  for (const auto& [key, entry] : model) {
    if (!builder.Fits(key, entry.view())) break;
    ASSERT_TRUE(builder.Add(key, entry.view()).ok());
  }
  EXPECT_LE(builder.fill_percent(), 80u);
  EXPECT_GE(builder.fill_percent(), 79u);
}

TEST(PageBuilderTest, SeparatorsAreShortest) {
  const KeyOrder order(BytewiseComparator());
  EXPECT_EQ(ShortestSeparator("apple", "banana", order), Slice("b"));
  EXPECT_EQ(ShortestSeparator("apple", "apply", order), Slice("apply"));
  EXPECT_EQ(ShortestSeparator("app", "apple", order), Slice("appl"));
  EXPECT_EQ(ShortestSeparator("", Slice("\0", 1), order), Slice("\0", 1));
  EXPECT_EQ(ShortestSeparator("b", "apple", ReverseBytewiseComparator()), Slice("apple"));
}

TEST(BranchPageTest, FilterContainsAllKeysBelow) {
  for (const std::uint32_t children : {1u, 5u, 20u}) {
    const BuiltPage page = FilteredBranch(children);
    const Result<PageView> view = PageView::Parse(page.bytes, "page", 0);
    ASSERT_TRUE(view.ok()) << view.status().ToString();
    const BranchFilter& filter = view->filter();
    ASSERT_GT(filter.count, 0u);
    unsigned keys = 0;
    for (std::uint32_t i = 0; i < children; ++i) {
      for (std::uint32_t k = 0; k <= i; ++k, ++keys) {
        EXPECT_TRUE(filter.MayContain(FilterHash(std::to_string(i) + "/" + std::to_string(k))));
      }
    }
    EXPECT_LE(filter.keys, keys);
    EXPECT_GE(filter.keys + 1 + keys / 50, keys);
    unsigned denied = 0;
    for (int i = 0; i < 100; ++i) denied += filter.MayContain(FilterHash("none" + std::to_string(i))) ? 0 : 1;
    EXPECT_GE(denied, 95u);
    EXPECT_LE(view->used_bytes(), page.bytes.size());
  }
}

// A branch of level 1 has a filter: it fills four units, two of them with the filter. A branch of a higher level has
// one unit and no filter.
TEST(BranchPageTest, OnlyLevelOneBranchesHaveFilters) {
  PageBuilderOptions options{512, 95};
  options.filter_bits_per_key = 10;
  for (const unsigned level : {1u, 2u}) {
    BranchBuilder builder(BytewiseComparator(), options, level);
    std::uint32_t children = 0;
    const auto child = [&] { return ChildRef{{MakePageId(kFile, 10 + children, 1), 1}, 40, 1}; };
    while (builder.Fits("s" + std::to_string(100 + children), child())) {
      ASSERT_TRUE(builder.Add("s" + std::to_string(100 + children), child()).ok());
      ++children;
    }
    EXPECT_EQ(builder.filter_blocks(), level == 1 ? kFilterUnits * 512u / kFilterBlockSize : 0u);
    EXPECT_EQ(builder.units(), level == 1 ? kFilteredBranchUnits : 1u);
    EXPECT_GE(builder.fill_percent(), 90u);
    BranchFilterBuilder filter(std::max(1u, builder.filter_blocks()), FilterProbesFor(10));
    std::string bytes;
    builder.Finish(MakePageId(kFile, 3, builder.units()), kSeed, level == 1 ? &filter : nullptr, &bytes);
    const Result<PageView> view = PageView::Parse(bytes, "page", 0);
    ASSERT_TRUE(view.ok()) << view.status().ToString();
    EXPECT_EQ(view->filter().count > 0, level == 1);
  }
}

// Eight children always fit, even with many keys below them or with long separators.
TEST(BranchPageTest, EightChildrenAlwaysFit) {
  for (const unsigned bits : {1u, 10u, 64u}) {
    for (const std::uint32_t page_size : {512u, 4096u}) {
      PageBuilderOptions options{page_size, 95};
      options.filter_bits_per_key = bits;
      BranchBuilder builder(BytewiseComparator(), options, 1);
      const std::string longest(MaxKeySizeFor(page_size) / 2, 'k');
      for (std::uint32_t i = 0; i < kBranchChildrenMin; ++i) {
        const ChildRef child{{MakePageId(kFile, 10 + i, 1), 1}, page_size / 12, 1};
        const std::string separator = std::to_string(i) + longest;
        ASSERT_TRUE(builder.Fits(separator, child));
        ASSERT_TRUE(builder.Add(separator, child).ok());
      }
      EXPECT_LE(builder.filter_blocks() * kFilterBlockSize, kFilterUnits * page_size);
    }
  }
}

TEST(BranchPageTest, ImpossibleFilterIsCorruption) {
  const BuiltPage good = FilteredBranch();
  const auto parse_with = [&](std::size_t offset, std::uint8_t value) {
    BuiltPage bad = good;
    bad.bytes[offset] = static_cast<char>(value);
    return PageView::Parse(bad.bytes, "page", 0).status();
  };
  ASSERT_TRUE(PageView::Parse(good.bytes, "page", 0).ok());
  constexpr std::size_t kProbesAt = 19;
  EXPECT_TRUE(parse_with(kProbesAt, kFilterProbesMax + 1).IsCorruption());
  EXPECT_TRUE(parse_with(kProbesAt, kFilterProbesMax).ok());
  const std::size_t facts = DecodeFixed<std::uint32_t>(good.bytes.data() + 36);
  EXPECT_TRUE(parse_with(facts, 0).IsCorruption());
  EXPECT_TRUE(parse_with(facts, 3).IsCorruption()) << "not a power of two";
  EXPECT_TRUE(parse_with(facts, 8).IsCorruption()) << "overlaps the columns";
  EXPECT_TRUE(parse_with(facts + 3, 0x80).IsCorruption());
  BuiltPage leaf = SmallPage();
  leaf.bytes[kProbesAt] = 6;
  EXPECT_TRUE(PageView::Parse(leaf.bytes, "page", 0).status().IsCorruption());
}

// A page whose totals overflow could not be read again, even if each child's total is right.
TEST(BranchPageTest, OverflowingTotalsAreCorruption) {
  BranchBuilder builder(BytewiseComparator(), {512, 95}, 1);
  const std::uint64_t half = std::uint64_t{1} << 63;
  EXPECT_TRUE(builder.Add("", {{MakePageId(1, 1, 1), 1}, half, half}).ok());
  EXPECT_TRUE(builder.Add("b", {{MakePageId(1, 2, 1), 2}, half, 1}).IsCorruption());
  EXPECT_TRUE(builder.Add("b", {{MakePageId(1, 2, 1), 2}, 1, half}).IsCorruption());
  EXPECT_TRUE(builder.Add("b", {{MakePageId(1, 2, 1), 2}, half - 1, half - 1}).ok());
  std::string page;
  const ChildRef all = builder.Finish(MakePageId(1, 3, 1), 7, nullptr, &page);
  EXPECT_EQ(all.entry_count, ~std::uint64_t{0});
  EXPECT_TRUE(PageView::Parse(page, "page", 0).ok());
}

}  // namespace
}  // namespace cambium
