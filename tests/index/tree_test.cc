// TreeBuilder, TreeFind, TreeCursor and CheckTree together: readers must find what the builder wrote.
#include <set>

#include "index/filter.h"
#include "index/tree_builder.h"
#include "index/tree_check.h"
#include "index/tree_cursor.h"
#include "index_test_util.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "util/coding.h"

namespace cambium {
namespace {

using namespace cambium::testing;

constexpr std::size_t kPoolBytes = 1 << 20;

std::string Number(std::uint64_t n) {
  char key[24];
  std::snprintf(key, sizeof(key), "key%08llu", static_cast<unsigned long long>(n));
  return key;
}

OwnedEntry At(std::uint64_t n) {
  return {EntryKind::kValue, ValueAddress::InLog(static_cast<Slot>(1), (n % 1000000) * 8, 100).word(), ""};
}

Model Numbers(std::uint64_t begin, std::uint64_t end, std::uint64_t step = 1) {
  Model model{KeyLess{BytewiseComparator()}};
  for (std::uint64_t n = begin; n < end; n += step) model[Number(n)] = At(n);
  return model;
}

std::uint64_t ValueBytesOf(const Model& model) {
  std::uint64_t sum = 0;
  for (const auto& [key, entry] : model) sum += ValueBytesOf(entry.view());
  return sum;
}

// Runs CheckTree and compares the entries it visits with the model.
void ExpectTreeIs(const TestTree& tree, const Model& model, const Comparator* comparator) {
  EXPECT_EQ(tree.root.entry_count, model.size());
  EXPECT_EQ(tree.root.value_bytes, ValueBytesOf(model));
  TreeCheckStats stats;
  auto expected = model.begin();
  TreeCheckCallbacks callbacks;
  callbacks.on_entry = [&](Slice key, const Entry& entry) {
    if (expected == model.end()) return Status::Corruption("more entries than expected");
    if (Slice(expected->first) != key || !expected->second.Is(entry)) return Status::Corruption("wrong entry");
    ++expected;
    return Status::OK();
  };
  std::set<PageId> pages;
  callbacks.on_page = [&](const PageView& page) {
    pages.insert(page.id());
    return Status::OK();
  };
  const Status status = CheckTree(tree.root, tree.files, comparator, callbacks, &stats);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(expected, model.end());
  EXPECT_EQ(stats.entries, model.size());
  EXPECT_EQ(pages.size(), stats.leaves + stats.branches);
}

void ExpectAt(const TreeCursor& cursor, const Model& model, Model::const_iterator expected) {
  ASSERT_TRUE(cursor.status().ok()) << cursor.status().ToString();
  ASSERT_EQ(cursor.Valid(), expected != model.end());
  if (!cursor.Valid()) return;
  ASSERT_EQ(cursor.key(), Slice(expected->first));
  ASSERT_TRUE(expected->second.Is(cursor.entry()));
}

TEST(TreeTest, RoundTripsEveryShapeOrderAndPageSize) {
  Prng prng(SeedFromEnvironment(21));
  for (const Comparator* comparator : AllComparators()) {
    for (const KeyShape shape : kAllShapes) {
      for (const std::uint32_t page_size : {512u, 4096u}) {
        SCOPED_TRACE(std::string(comparator->Name()) + " shape " + std::to_string(static_cast<int>(shape)) + " page " +
                     std::to_string(page_size));
        PagePool pool(kPoolBytes);
        const std::size_t n = shape == KeyShape::kLong ? 40 : 800;
        const Model model = RandomModel(comparator, shape, n, page_size, &prng);
        const TestTree tree = TestTree::Build(model, comparator, page_size, &pool);
        ExpectTreeIs(tree, model, comparator);

        for (int probe = 0; probe < 300; ++probe) {
          auto near = model.begin();
          std::advance(near, static_cast<long>(prng.Uniform(model.size())));
          std::string target = near->first;
          if (prng.OneIn(3)) target = RandomKey(shape, &prng, 60);
          if (prng.OneIn(4)) target.push_back('\0');
          PageRef keep;
          Entry entry;
          const Result<bool> found = TreeFind(tree.root, tree.files, &pool, comparator, target, FilterHash(target),
                                              &keep, &entry);
          ASSERT_TRUE(found.ok()) << found.status().ToString();
          const auto it = model.find(target);
          ASSERT_EQ(*found, it != model.end());
          if (*found) {
            ASSERT_TRUE(it->second.Is(entry));
          }
        }
        EXPECT_TRUE(pool.CheckInvariants(true).ok());
      }
    }
  }
}

// A cursor against std::map: all four kinds of seek, steps by Next, Prev and Advance, and changes of direction.
TEST(TreeTest, CursorAgreesWithAMap) {
  Prng prng(SeedFromEnvironment(22));
  for (const Comparator* comparator : AllComparators()) {
    for (const KeyShape shape : kAllShapes) {
      PagePool pool(8 * 512);
      const Model model = RandomModel(comparator, shape, shape == KeyShape::kLong ? 40 : 800, 512, &prng);
      const TestTree tree = TestTree::Build(model, comparator, 512, &pool);
      TreeCursor cursor(tree.root, tree.files, &pool, comparator);
      ASSERT_FALSE(cursor.Valid());
      auto at = model.end();
      for (int i = 0; i < 4000; ++i) {
        std::string target = RandomKey(shape, &prng, 60);
        if (prng.OneIn(2)) {
          auto near = model.begin();
          std::advance(near, static_cast<long>(prng.Uniform(model.size())));
          target = near->first;
        }
        switch (at == model.end() ? prng.Uniform(4) : prng.Uniform(20)) {
          case 0:
            cursor.SeekToFirst();
            at = model.begin();
            break;
          case 1:
            cursor.SeekToLast();
            at = std::prev(model.end());
            break;
          case 2:
            cursor.Seek(target);
            at = model.lower_bound(target);
            break;
          case 3:
            cursor.SeekForPrev(target);
            at = model.upper_bound(target);
            at = at == model.begin() ? model.end() : std::prev(at);
            break;
          default: {
            const bool forward = i % 200 < 130;
            if (forward) {
              ++at;
            } else {
              at = at == model.begin() ? model.end() : std::prev(at);
            }
            if (prng.OneIn(2)) {
              forward ? cursor.Next() : cursor.Prev();
              break;
            }
            Slice key;
            ASSERT_EQ(cursor.Advance(forward, &key), at != model.end());
            if (at != model.end()) {
              ASSERT_EQ(key, Slice(at->first));
            }
          }
        }
        ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, model, at));
        if (at != model.end()) {
          ASSERT_EQ(cursor.kind(), cursor.entry().kind);
        }
      }
    }
  }
}

// Rule A8: if a tree is in another order than its reader's, stepping through it detects that: within a leaf, by heads
// or by whole keys, and from leaf to leaf.
bool SeesDisorder(KeyShape shape, const Comparator* made_in, const Comparator* read_in, bool forward) {
  Prng prng(SeedFromEnvironment(23));
  PagePool pool(kPoolBytes);
  const Model model = RandomModel(made_in, shape, shape == KeyShape::kLong ? 40 : 800, 512, &prng);
  const TestTree tree = TestTree::Build(model, made_in, 512, &pool);
  TreeCursor cursor(tree.root, tree.files, &pool, read_in);
  forward ? cursor.SeekToFirst() : cursor.SeekToLast();
  Slice key;
  while (cursor.Advance(forward, &key)) {
  }
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(cursor.status().ok() || cursor.status().IsCorruption()) << cursor.status().ToString();
  if (cursor.status().ok()) return false;
  EXPECT_NE(cursor.status().ToString().find("index page at"), std::string::npos) << cursor.status().ToString();
  return true;
}

TEST(TreeTest, KeysOutOfOrderAreCorruption) {
  for (const KeyShape shape : kAllShapes) {
    for (const bool forward : {true, false}) {
      EXPECT_FALSE(SeesDisorder(shape, BytewiseComparator(), BytewiseComparator(), forward));
      EXPECT_FALSE(SeesDisorder(shape, ReverseBytewiseComparator(), ReverseBytewiseComparator(), forward));
      EXPECT_TRUE(SeesDisorder(shape, ReverseBytewiseComparator(), BytewiseComparator(), forward));
      const MutantScope mutant(Mutant::kSkipOrderCheck);
      EXPECT_FALSE(SeesDisorder(shape, ReverseBytewiseComparator(), BytewiseComparator(), forward));
    }
  }
}

TEST(TreeTest, EmptyTree) {
  PagePool pool(kPoolBytes);
  const Model empty{KeyLess{BytewiseComparator()}};
  const TestTree tree = TestTree::Build(empty, BytewiseComparator(), 512, &pool);
  EXPECT_EQ(tree.root, TreeRoot{});
  ExpectTreeIs(tree, empty, BytewiseComparator());
  TreeCursor cursor(tree.root, tree.files, &pool, BytewiseComparator());
  for (int i = 0; i < 4; ++i) {
    if (i == 0) cursor.SeekToFirst();
    if (i == 1) cursor.SeekToLast();
    if (i == 2) cursor.Seek("x");
    if (i == 3) cursor.SeekForPrev("x");
    EXPECT_FALSE(cursor.Valid());
    EXPECT_TRUE(cursor.status().ok());
  }
}

TEST(TreeTest, HotLookupsDoNotReadTheDisk) {
  PagePool pool(kPoolBytes);
  const TestTree tree = TestTree::Build(Numbers(0, 5000), BytewiseComparator(), 512, &pool);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t n = 0; n < 5000; ++n) {
      PageRef keep;
      Entry entry;
      ASSERT_TRUE(*TreeFind(tree.root, tree.files, &pool, BytewiseComparator(), Number(n), FilterHash(Number(n)), &keep,
                            &entry));
    }
  }
  EXPECT_EQ(tree.sink->file->reads, static_cast<int>(tree.sink->pages.size()));
}

// With long keys a fan-out of two would need more levels than a tree may have.
TEST(TreeTest, LongKeysStayFlat) {
  PagePool pool(kPoolBytes);
  Model model{KeyLess{ReverseBytewiseComparator()}};
  for (std::uint64_t n = 0; n < 600; ++n) model[std::string(MaxKeySizeFor(512) - 11, 'x') + Number(n)] = At(n);
  const TestTree tree = TestTree::Build(model, ReverseBytewiseComparator(), 512, &pool);
  EXPECT_LE(tree.root.height, 6u);
  ExpectTreeIs(tree, model, ReverseBytewiseComparator());
}

Status AddOutOfOrder(const Comparator* comparator) {
  MemorySink sink(IndexHeader(7, 512));
  TreeBuilder builder(&sink, comparator, {512, 95});
  EXPECT_TRUE(builder.Add("b", Entry::Tombstone()).ok());
  const Status equal = builder.Add("b", Entry::Tombstone());
  if (!equal.ok()) {
    EXPECT_TRUE(builder.Finish().status().IsCorruption());  // the error is permanent
  }
  return equal;
}

TEST(TreeBuilderTest, KeysOutOfOrderAreCorruption) {
  EXPECT_TRUE(AddOutOfOrder(BytewiseComparator()).IsCorruption());
  MemorySink sink(IndexHeader(7, 512));
  TreeBuilder folding(&sink, CaseFoldingComparator(), {512, 95});
  EXPECT_TRUE(folding.Add("b", Entry::Tombstone()).ok());
  EXPECT_TRUE(folding.Add("B", Entry::Tombstone()).IsCorruption());
  TreeBuilder reverse(&sink, ReverseBytewiseComparator(), {512, 95});
  EXPECT_TRUE(reverse.Add("a", Entry::Tombstone()).ok());
  EXPECT_TRUE(reverse.Add("b", Entry::Tombstone()).IsCorruption());
}

TEST(TreeBuilderTest, MutantSkipOrderCheckIsCaught) {
  const MutantScope mutant(Mutant::kSkipOrderCheck);
  EXPECT_FALSE(AddOutOfOrder(BytewiseComparator()).IsCorruption());
}

TEST(TreeBuilderTest, SinkErrorFailsAllLaterCalls) {
  class FullSink final : public PageSink {
   public:
    Result<Place> Reserve(unsigned) override { return Status::NoSpace("full"); }
    Status Append(PagePointer, Slice) override { return Status::NoSpace("full"); }
  } sink;
  TreeBuilder builder(&sink, BytewiseComparator(), {512, 95});
  Status status;
  for (std::uint64_t n = 0; status.ok() && n < 1000; ++n) status = builder.Add(Number(n), Entry::Tombstone());
  EXPECT_TRUE(status.IsNoSpace());
  EXPECT_TRUE(builder.Add(Number(2000), Entry::Tombstone()).IsNoSpace());
  EXPECT_TRUE(builder.Finish().status().IsNoSpace());
}

// Damage anywhere in a tree's file: reads return Corruption or the right answer, and CheckTree finds all damage.
TEST(TreeCheckTest, DetectsEveryDamagedByte) {
  PagePool pool(kPoolBytes);
  const Model model = Numbers(0, 120);
  TestTree tree = TestTree::Build(model, BytewiseComparator(), 512, &pool);
  ASSERT_GE(tree.root.height, 2u);
  const std::string good = tree.sink->file->contents;
  for (std::size_t i = 512; i < good.size(); ++i) {
    tree.sink->file->contents = good;
    tree.sink->file->contents[i] = static_cast<char>(good[i] ^ (1 << i % 8));
    tree.Open(&pool);
    TreeCheckStats stats;
    ASSERT_TRUE(CheckTree(tree.root, tree.files, BytewiseComparator(), {}, &stats).IsCorruption()) << i;
    if (i % 16 != 0) continue;
    TreeCursor cursor(tree.root, tree.files, &pool, BytewiseComparator());
    auto it = model.begin();
    for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next(), ++it) {
      ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, model, it));
    }
    ASSERT_TRUE(cursor.status().IsCorruption());
  }
}

// Hand-made branches and leaves with valid checksums, each wrong in one respect.
class HandMade {
 public:
  HandMade() : sink(IndexHeader(7, 512)) {}

  ChildRef Leaf(std::initializer_list<const char*> keys) {
    LeafBuilder builder(BytewiseComparator(), {512, 95});
    for (const char* key : keys) EXPECT_TRUE(builder.Add(key, Entry::Tombstone()).ok());
    return Put(&builder);
  }
  ChildRef Branch(unsigned level, std::initializer_list<std::pair<const char*, ChildRef>> children) {
    BranchBuilder builder(BytewiseComparator(), {512, 95}, level);
    for (const auto& [separator, child] : children) EXPECT_TRUE(builder.Add(separator, child).ok());
    return Put(&builder);
  }
  Status Check(const ChildRef& root, std::uint32_t height) {
    TreeCheckStats stats;
    return CheckTree(RootOf(root, height), Files(), BytewiseComparator(), {}, &stats);
  }
  Status Find(const ChildRef& root, std::uint32_t height, Slice key) {
    const FileSet files = Files();
    PageRef keep;
    Entry entry;
    return TreeFind(RootOf(root, height), files, &pool, BytewiseComparator(), key, FilterHash(key), &keep, &entry)
        .status();
  }
  Status Scan(const ChildRef& root, std::uint32_t height) {
    TreeCursor cursor(RootOf(root, height), Files(), &pool, BytewiseComparator());
    for (cursor.SeekToFirst(); cursor.Valid();) cursor.Next();
    return cursor.status();
  }

 private:
  static TreeRoot RootOf(const ChildRef& root, std::uint32_t height) {
    return {root.page, height, root.entry_count, root.value_bytes};
  }
  FileSet Files() { return FileSet(std::make_shared<const IndexFile>(sink.file, sink.header, &pool)); }
  template <typename Builder>
  ChildRef Put(Builder* builder) {
    std::string bytes;
    const PageSink::Place place = *sink.Reserve(builder->units());
    ChildRef ref;
    if constexpr (std::is_same_v<Builder, BranchBuilder>) {
      ref = builder->Finish(place.id, place.file_seed, nullptr, &bytes);
    } else {
      ref = builder->Finish(place.id, place.file_seed, &bytes);
    }
    EXPECT_TRUE(sink.Append(ref.page, bytes).ok());
    return ref;
  }
  PagePool pool{kPoolBytes};
  MemorySink sink;
};

TEST(TreeCheckTest, DetectsEveryContradiction) {
  HandMade pages;
  const ChildRef a = pages.Leaf({"a", "b"});
  const ChildRef m = pages.Leaf({"m", "n"});
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"m", m}}), 2).ok());
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"c", m}}), 2).ok());

  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"b", m}}), 2).IsCorruption());   // "b" belongs to the right child
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"mm", m}}), 2).IsCorruption());  // "m" belongs to the left one
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", m}, {"m", m}}), 2).IsCorruption());   // one page twice
  ChildRef more = m;
  more.entry_count += 1;
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"m", more}}), 2).IsCorruption());
  ChildRef bytes = m;
  bytes.value_bytes += 1;
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"m", bytes}}), 2).IsCorruption());
  ChildRef checksum = m;
  checksum.page.checksum += 1;
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"m", checksum}}), 2).IsCorruption());
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", pages.Leaf({"b", "a"})}, {"m", m}}), 2).IsCorruption());
  EXPECT_TRUE(pages.Check(pages.Branch(2, {{"", a}, {"m", m}}), 3).IsCorruption());  // skips a level
  EXPECT_TRUE(pages.Check(a, 2).IsCorruption());
  EXPECT_TRUE(pages.Check(a, 17).IsCorruption());
  EXPECT_TRUE(pages.Check(a, 0).IsCorruption());
  ChildRef elsewhere = m;
  elsewhere.page.id = MakePageId(99, 1, 1);
  EXPECT_TRUE(pages.Check(pages.Branch(1, {{"", a}, {"m", elsewhere}}), 2).IsCorruption());
}

// A branch below a branch of its own level. Because levels are checked, a descent takes no more steps than the tree's
// height; without the check, a chain or a cycle could be endless.
std::pair<Status, Status> ReadChainOfOneLevel() {
  HandMade pages;
  ChildRef node = pages.Branch(1, {{"", pages.Leaf({"a", "b"})}});
  for (int i = 0; i < 40; ++i) node = pages.Branch(1, {{"", node}});
  return {pages.Find(node, 2, "a"), pages.Scan(node, 2)};
}

TEST(TreeTest, LevelThatDoesNotDecreaseIsCorruption) {
  const auto [find, scan] = ReadChainOfOneLevel();
  EXPECT_TRUE(find.IsCorruption());
  EXPECT_TRUE(scan.IsCorruption());
  HandMade pages;
  const ChildRef leaf = pages.Leaf({"a"});
  EXPECT_TRUE(pages.Find(leaf, 1, "a").ok());
  EXPECT_TRUE(pages.Find(leaf, 17, "a").IsCorruption());
  EXPECT_TRUE(pages.Find(leaf, 0xffffffffu, "a").IsCorruption());
  EXPECT_TRUE(pages.Scan(leaf, 17).IsCorruption());
}

TEST(TreeTest, MutantNoDepthLimitIsCaught) {
  const MutantScope mutant(Mutant::kNoDepthLimit);
  const auto [find, scan] = ReadChainOfOneLevel();
  EXPECT_FALSE(find.IsCorruption());
  EXPECT_FALSE(scan.IsCorruption());
}

// Random changes to all pages of a tree, with checksums repaired from the leaves up, so that every page validates and
// its parent expects it. Reads must end and stay in bounds; CheckTree must not accept a different set of entries.
TEST(TreeTest, ReadsOfHostileTreesTerminate) {
  Prng prng(SeedFromEnvironment(24));
  PagePool pool(kPoolBytes);
  const Model model = Numbers(0, 300);
  TestTree tree = TestTree::Build(model, BytewiseComparator(), 512, &pool);
  const std::string good = tree.sink->file->contents;
  const TreeRoot good_root = tree.root;
  const std::uint64_t seed = tree.sink->header.Seed();
  for (std::uint64_t round = 0; round < ScaledCount(1500); ++round) {
    std::string& bytes = tree.sink->file->contents;
    bytes = good;
    tree.root = good_root;
    for (std::uint64_t change = prng.Between(1, 4); change > 0; --change) {
      const PagePointer& page = tree.sink->pages[prng.Uniform(tree.sink->pages.size())];
      const std::size_t offset = UnitOffsetOf(page.id) * 512;
      const std::size_t i = offset + (prng.OneIn(3) ? prng.Between(16, 511) : prng.Between(16, 100));
      bytes[i] = static_cast<char>(prng.OneIn(2) ? prng.Next() : prng.Uniform(20));
    }
    // Children were written before their parents, so one pass from the front repairs all.
    std::map<std::uint64_t, std::uint64_t> repaired;  // old checksum -> new
    for (const PagePointer& page : tree.sink->pages) {
      char* at = bytes.data() + UnitOffsetOf(page.id) * 512;
      if (at[16] == static_cast<char>(PageType::kBranch)) {
        for (char* word = at + kPageHeaderSize; word + 8 <= at + 512; ++word) {
          const auto it = repaired.find(DecodeFixed<std::uint64_t>(word));
          if (it != repaired.end()) EncodeFixed<std::uint64_t>(word, it->second);
        }
      }
      const std::uint64_t checksum = PageChecksum({at, 512}, page.id, 512, seed);
      EncodeFixed<std::uint64_t>(at, checksum);
      repaired[page.checksum] = checksum;
      if (page == good_root.page) tree.root.page.checksum = checksum;
    }
    tree.Open(&pool);
    TreeCursor cursor(tree.root, tree.files, &pool, BytewiseComparator());
    std::size_t steps = 0;
    for (cursor.SeekToFirst(); cursor.Valid() && steps < 10000000; cursor.Next()) ++steps;
    for (cursor.SeekToLast(); cursor.Valid() && steps < 10000000; cursor.Prev()) ++steps;
    ASSERT_LT(steps, 10000000u);
    for (int probe = 0; probe < 10; ++probe) {
      PageRef keep;
      const std::string target = Number(prng.Uniform(310));
      Entry entry;
      const Result<bool> found = TreeFind(tree.root, tree.files, &pool, BytewiseComparator(),
                                          target, FilterHash(target), &keep, &entry);
      ASSERT_TRUE(found.ok() || found.status().IsCorruption() || found.status().IsNotSupported());
    }
    TreeCheckStats stats;
    TreeCheckCallbacks callbacks;
    std::string last;
    bool first = true;
    callbacks.on_entry = [&](Slice key, const Entry&) {
      if (!first && Slice(last).compare(key) >= 0) return Status::Aborted("order");
      first = false;
      last = key.ToString();
      return Status::OK();
    };
    const Status status = CheckTree(tree.root, tree.files, BytewiseComparator(), callbacks, &stats);
    ASSERT_FALSE(status.IsAborted()) << "CheckTree accepts disorder";
    if (status.ok()) {
      ASSERT_EQ(stats.entries, tree.root.entry_count);
    }
  }
}

}  // namespace
}  // namespace cambium
