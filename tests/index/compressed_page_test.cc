#include "index/compressed_page.h"

#include "compressible.h"
#include "index/page_builder.h"
#include "index_test_util.h"
#include "testing/mutant_scope.h"
#include "util/coding.h"

namespace cambium {
namespace {

using namespace cambium::testing;

constexpr Codec kCodecs[] = {Codec::kLz4, Codec::kZstd};
constexpr std::uint64_t kNumber = 9;

// A leaf with all entries of `model`, not placed, cut after its last used byte.
std::string RawLeaf(const Model& model, const Comparator* comparator, std::uint32_t page_size) {
  LeafBuilder builder(comparator, {page_size, 100});
  for (const auto& [key, entry] : model) EXPECT_TRUE(builder.Add(key, entry.view()).ok());
  const std::size_t used = builder.used_bytes();
  std::string page;
  EXPECT_EQ(builder.FinishUnplaced(&page).page, PagePointer{});
  page.resize(AlignUp(used, kRawSizeStep));
  return page;
}

Model Entries(std::uint64_t count, Prng* prng) {
  Model model{KeyLess{BytewiseComparator()}};
  for (std::uint64_t n = 0; n < count; ++n) model[NumberedKey(n)] = CompressibleEntry(prng);
  return model;
}

// A file 9.idx with one page after its header.
struct PageFile {
  explicit PageFile(std::uint32_t page_size) : sink(IndexHeader(kNumber, page_size)) {}

  // Appends the page with the right id and checksum, whatever its contents.
  PagePointer Append(std::string page) {
    const auto units = static_cast<unsigned>(page.size() / sink.header.page_size);
    const PageSink::Place place = *sink.Reserve(units);
    const std::uint64_t checksum =
        PlacePage(&page, place.id, static_cast<std::uint32_t>(sink.header.page_size), place.file_seed);
    EXPECT_TRUE(sink.Append({place.id, checksum}, page).ok());
    return {place.id, checksum};
  }
  // Reads the page through a pool of its own.
  Status Get(PagePointer page, std::string* bytes = nullptr) {
    PagePool pool(1 << 20);
    const IndexFile file(sink.file, sink.header, &pool);
    {
      const Result<PageRef> ref = pool.Get(file, page);
      if (!ref.ok()) {
        EXPECT_TRUE(pool.CheckInvariants(true).ok());
        EXPECT_EQ(pool.stats().resident_bytes, 0u);
        return ref.status();
      }
      EXPECT_EQ((*ref)->pointer(), page);
      EXPECT_EQ(pool.stats().resident_bytes, (*ref)->bytes().size());
      if (bytes != nullptr) *bytes = (*ref)->bytes().ToString();
    }
    EXPECT_TRUE(pool.CheckInvariants(true).ok());
    return Status::OK();
  }
  // Reads the page without the pool, as checks do.
  Status Read(PagePointer page, std::vector<char>* bytes) {
    const IndexFile file(sink.file, sink.header, nullptr);
    CAMBIUM_RETURN_IF_ERROR(file.ReadAndExpandPage(page.id, bytes));
    return PageView::Parse({bytes->data(), bytes->size()}, file.path(), file.OffsetOf(page.id)).status();
  }

  MemorySink sink;
};

TEST(CompressedPageTest, RandomLeavesRoundTrip) {
  Prng prng(SeedFromEnvironment(61));
  int compressed = 0;
  for (std::uint64_t round = 0; round < 600 * ScaleFromEnvironment(); ++round) {
    const Codec codec = kCodecs[prng.Uniform(2)];
    const std::uint32_t page_size = 512u << prng.Uniform(6);
    const Comparator* comparator = AllComparators()[prng.Uniform(3)];
    const Model mixed = RandomModel(comparator, kAllShapes[prng.Uniform(std::size(kAllShapes))], prng.Between(1, 20),
                                    page_size, &prng);
    Model model{KeyLess{comparator}};
    for (const auto& [key, entry] : mixed) model[key] = prng.OneIn(4) ? entry : CompressibleEntry(&prng);
    for (std::uint64_t n = prng.Uniform(100); n > 0; --n) model[NumberedKey(n)] = CompressibleEntry(&prng);
    LeafBuilder probe(comparator, {page_size, 100});
    for (auto it = model.begin(); it != model.end();) {  // leaves out entries that do not fit into one page
      const bool taken = probe.Add(it->first, it->second.view()).ok();
      it = taken ? std::next(it) : model.erase(it);
    }

    const std::string leaf = RawLeaf(model, comparator, page_size);
    std::string stored;
    std::size_t packed_end = 0;
    if (!CompressLeaf(codec, leaf, page_size, &stored, &packed_end)) continue;
    ++compressed;
    ASSERT_EQ(stored.size() % page_size, 0u);
    ASSERT_LE(packed_end, stored.size());
    ASSERT_LE(packed_end - kCompressedHeaderSize, (leaf.size() - kPageHeaderSize) * 7 / 8);
    ASSERT_LT(stored.size(), AlignUp(leaf.size(), page_size));

    PageFile file(page_size);
    file.Append(std::string(page_size, '\0'));
    const PagePointer page = file.Append(stored);
    std::string expanded;
    const Status status = file.Get(page, &expanded);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(expanded.size(), leaf.size());
    ASSERT_EQ(Slice(expanded).substr(16, expanded.size() - 16), Slice(leaf).substr(16, leaf.size() - 16));
    std::vector<char> read;
    ASSERT_TRUE(file.Read(page, &read).ok());
    ASSERT_EQ(Slice(read.data(), read.size()), Slice(expanded));

    const Result<PageView> view = PageView::Parse(expanded, "9.idx", 0);
    ASSERT_TRUE(view.ok()) << view.status().ToString();
    ASSERT_TRUE(view->CheckKeys(comparator, "9.idx", 0).ok());
    std::uint32_t i = 0;
    std::string scratch;
    for (const auto& [key, entry] : model) {
      ASSERT_EQ(view->key(i, &scratch), Slice(key));
      ASSERT_TRUE(entry.Is(view->entry(i)));
      ++i;
    }
    ASSERT_EQ(i, view->count());
  }
  EXPECT_GT(compressed, 100);
}

TEST(CompressedPageTest, IncompressibleLeafIsNotCompressed) {
  Prng prng(SeedFromEnvironment(62));
  for (const Codec codec : {Codec::kNone, Codec::kLz4, Codec::kZstd}) {
    Model model{KeyLess{BytewiseComparator()}};
    for (int n = 0; n < 60; ++n) {
      OwnedEntry entry;
      entry.kind = EntryKind::kInline;
      entry.value = prng.Bytes(120);
      model[prng.Bytes(16)] = entry;
    }
    std::string stored;
    std::size_t packed_end = 0;
    EXPECT_FALSE(CompressLeaf(codec, RawLeaf(model, BytewiseComparator(), 512), 512, &stored, &packed_end));
    // The leaf shrinks, but it has only one unit and cannot have fewer.
    EXPECT_FALSE(
        CompressLeaf(codec, RawLeaf(Entries(20, &prng), BytewiseComparator(), 4096), 4096, &stored, &packed_end));
  }
}

// A compressed page of three units of 512 bytes, with zeros at its end.
struct Sample {
  explicit Sample(Codec codec) : file(512) {
    Prng prng(63);
    bool is_found = false;
    for (std::uint64_t count = 8; count < 100 && !is_found; ++count) {
      leaf = RawLeaf(Entries(count, &prng), BytewiseComparator(), 512);
      is_found = CompressLeaf(codec, leaf, 512, &stored, &packed_end) && stored.size() == 3 * 512 &&
                 packed_end < stored.size() - 40;
    }
    EXPECT_TRUE(is_found);
    page = file.Append(stored);
  }
  std::string& contents() { return file.sink.file->contents; }

  PageFile file;
  std::string leaf;
  std::string stored;
  std::size_t packed_end = 0;
  PagePointer page;
};

// Changes each byte in turn. Returns how many changes were not detected.
std::size_t UnseenFlips(Codec codec) {
  Sample sample(codec);
  const std::string good = sample.contents();
  std::size_t unseen = 0;
  for (std::size_t i = 512; i < good.size(); ++i) {
    sample.contents() = good;
    sample.contents()[i] = static_cast<char>(good[i] ^ (1 << i % 8));
    std::vector<char> bytes;
    const Status got = sample.file.Get(sample.page);
    const Status read = sample.file.Read(sample.page, &bytes);
    for (const Status& status : {got, read}) {
      if (status.ok()) {
        ++unseen;
      } else if (active_mutant.load() == Mutant::kNone) {
        EXPECT_TRUE(status.IsCorruption()) << i << " " << status.ToString();
        EXPECT_NE(status.ToString().find("9.idx:512"), std::string::npos) << status.ToString();
      }
    }
  }
  return unseen;
}

TEST(CompressedPageTest, AnyChangedByteIsCorruptionThatNamesThePlace) {
  for (const Codec codec : kCodecs) EXPECT_EQ(UnseenFlips(codec), 0u);
}

TEST(CompressedPageTest, MutantSkipStoredChecksumIsCaught) {
  const MutantScope mutant(Mutant::kSkipStoredChecksum);
  for (const Codec codec : kCodecs) EXPECT_GT(UnseenFlips(codec), 0u);
}

// Even with the right checksum, forged contents are not trusted beyond their bounds.
TEST(CompressedPageTest, ForgedHeadersAreRejected) {
  for (const Codec codec : kCodecs) {
    Sample sample(codec);
    const auto raw_size = static_cast<std::uint32_t>(sample.leaf.size());
    const auto packed_size = static_cast<std::uint32_t>(sample.packed_end - kCompressedHeaderSize);
    const auto with = [&](const auto& change) {
      std::string forged = sample.stored;
      change(&forged);
      const PagePointer page = sample.file.Append(forged);
      const Status status = sample.file.Get(page);
      std::vector<char> bytes;
      EXPECT_EQ(sample.file.Read(page, &bytes).code(), status.code());
      if (!status.ok()) {
        EXPECT_NE(status.ToString().find("9.idx:" + std::to_string(UnitOffsetOf(page.id) * 512)), std::string::npos)
            << status.ToString();
      }
      return status;
    };
    EXPECT_TRUE(with([](std::string*) {}).ok());
    for (const std::uint32_t size : {0u, 1u, 47u, 48u, 511u, 512u, 1024u, 1536u, raw_size - 512, raw_size - 1,
                                     raw_size + 1, raw_size + 512, 64u * 512, 64u * 512 + 512, 1u << 20, 1u << 30,
                                     0x7ffffe00u, 0x80000000u, 0xfffffe00u, 0xffffffffu}) {
      EXPECT_TRUE(with([&](std::string* p) { EncodeFixed<std::uint32_t>(p->data() + 48, size); }).IsCorruption())
          << size;
    }
    for (const std::uint32_t size : {0u, 1u, packed_size - 1, packed_size + 1, 3u * 512 - 56, 3u * 512 - 55, 3u * 512,
                                     1u << 31, 0xffffffffu}) {
      EXPECT_TRUE(with([&](std::string* p) { EncodeFixed<std::uint32_t>(p->data() + 52, size); }).IsCorruption())
          << size;
    }
    const auto byte = [&](std::size_t at, unsigned value) {
      return with([&](std::string* p) { (*p)[at] = static_cast<char>(value); });
    };
    EXPECT_TRUE(byte(17, 1).IsCorruption());                                      // a branch
    EXPECT_TRUE(byte(19, 0).IsCorruption());                                      // no codec
    EXPECT_TRUE(byte(19, 3 - static_cast<unsigned>(codec)).IsCorruption());       // the other one
    EXPECT_TRUE(byte(19, 3).IsNotSupported());                                    // one of a later version
    EXPECT_TRUE(byte(19, 255).IsNotSupported());
    EXPECT_TRUE(byte(16, 1).IsCorruption());                                      // an uncompressed leaf
    EXPECT_TRUE(byte(16, 2).IsCorruption());
    EXPECT_TRUE(byte(16, 4).IsCorruption());                                      // a type that does not exist
    EXPECT_TRUE(byte(20, static_cast<unsigned char>(sample.stored[20]) + 1u).IsCorruption());  // one entry more
  }
}

// Random bytes are changed, and the checksum is repaired. The result is an error or some leaf, in bounded memory and
// time, without an access outside of the page (which the sanitizers check).
TEST(CompressedPageTest, HostilePagesAreRejectedOrHarmless) {
  Prng prng(SeedFromEnvironment(64));
  int refused = 0;
  for (const Codec codec : kCodecs) {
    Sample sample(codec);
    const std::string before = sample.contents().substr(0, 512);
    for (std::uint64_t round = 0; round < 5000 * ScaleFromEnvironment(); ++round) {
      std::string forged = sample.stored;
      for (std::uint64_t change = prng.Between(1, 4); change > 0; --change) {
        forged[prng.OneIn(3) ? prng.Uniform(80) : prng.Uniform(forged.size())] = static_cast<char>(prng.Next());
      }
      sample.contents() = before;
      std::string bytes;
      const Status status = sample.file.Get(sample.file.Append(forged), &bytes);
      ASSERT_TRUE(status.ok() || status.IsCorruption() || status.IsNotSupported()) << status.ToString();
      refused += status.ok() ? 0 : 1;
      ASSERT_LE(bytes.size(), 64u * 512);
    }
  }
  EXPECT_GT(refused, 1000);
}

// Written by the first version that compressed leaves: pins the format of compressed_page.h, byte by byte. A codec may
// one day compress the same leaf differently, but these bytes must stay readable.
constexpr const char* kPinnedLz4 =
    "cac2927661d8daa140000024000000000300010114000000030000000000000002000000280100006002000000000000000400002a01"
    "0000476b6579000100a33028010000260000204e080013740800139a0800032c002330c0100013e60800220c02380013320800042800"
    "13581000137e080013a4080013ca080004280013f010002216034800133c080013620800ff6700003031000031310000323100003331"
    "000034310000353100003631000037310000383100003931000030320000313200003232000033320000343200003532000036320000"
    "3732000038320000393276616c7565206f66206b6579206e756d6265722031312c20616e64206d6f7265206f662069742600021f3226"
    "00121f332600121f342600121f362600121f372600121f382600121f392600112f32312600120f3001121f323001121f323001121f32"
    "3001121f323001121f323001121d32300103d8020f020059500000000000";
constexpr const char* kPinnedZstd =
    "f1f6878a86f6c49b4000002400000000030001021400000003000000000000000200000028010000600200000000000000040000d400"
    "000028b52ffd60d002550600328a212980294907cb10c1504c403209c10b4a64a96f6d9b17fe04a522c1130821a411224f84b8c33080"
    "6ec4a6f0b9c656b3f0b9c656170a8fc3248426490499e9890ac36852232e29c14991b19030147edfd77ddb17f9b2effaf69b5ff5093f"
    "dfa7fb6c9fc827fb5c9ffdcc4f752847c1113011f1801ad0012a029080500e0b83f402af185037e2122420908324e72b94c02a0c91f3"
    "308ff09c87f188e7fa609279c4e73ccc473c670f4bed5beb5a7c18630333a64bbe07c68097c43022b3c1dc2e9bcc40169b91a188";

TEST(CompressedPageTest, PagesOfTheFirstVersionAreReadable) {
  for (const Slice pinned : {Slice(kPinnedLz4), Slice(kPinnedZstd)}) {
    std::string page;
    for (std::size_t i = 0; i < pinned.size(); i += 2) {
      page.push_back(static_cast<char>(std::stoi(pinned.substr(i, 2).ToString(), nullptr, 16)));
    }
    page.resize(512);
    PageFile file(512);
    const PagePointer pointer{MakePageId(kNumber, 1, 1), DecodeFixed<std::uint64_t>(page.data())};
    ASSERT_TRUE(file.sink.Append(pointer, page).ok());
    std::string leaf;
    const Status status = file.Get(pointer, &leaf);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const Result<PageView> view = PageView::Parse(leaf, "9.idx", 512);
    ASSERT_TRUE(view.ok());
    ASSERT_EQ(view->count(), 20u);
    std::string scratch;
    for (std::uint32_t i = 0; i < 20; ++i) {
      const std::string number = std::to_string(10 + i);
      EXPECT_EQ(view->key(i, &scratch), Slice("key" + number));
      const Entry entry = view->entry(i);
      EXPECT_EQ(entry.kind, i % 5 == 0 ? EntryKind::kTombstone : EntryKind::kInline);
      EXPECT_EQ(entry.inline_value,
                Slice(i % 5 == 0 ? std::string() : "value of key number " + number + ", and more of it"));
    }
  }
}

// A leaf of 200 KiB, compressed into the few units of a file whose pages have at most 32 KiB.
Status GetBomb(Codec codec) {
  Model model{KeyLess{BytewiseComparator()}};
  OwnedEntry entry;
  entry.kind = EntryKind::kInline;
  entry.value = std::string(1000, 'x');
  for (std::uint64_t n = 0; n < 200; ++n) model[NumberedKey(n)] = entry;
  std::string stored;
  std::size_t packed_end = 0;
  EXPECT_TRUE(CompressLeaf(codec, RawLeaf(model, BytewiseComparator(), 4096), 512, &stored, &packed_end));
  PageFile file(512);
  return file.Get(file.Append(stored));
}

TEST(CompressedPageTest, PageNeverExpandsBeyondTheLargestPageOfItsFile) {
  for (const Codec codec : kCodecs) EXPECT_TRUE(GetBomb(codec).IsCorruption());
}

TEST(CompressedPageTest, MutantTrustRawSizeIsCaught) {
  const MutantScope mutant(Mutant::kTrustRawSize);
  for (const Codec codec : kCodecs) EXPECT_FALSE(GetBomb(codec).IsCorruption());
}

}  // namespace
}  // namespace cambium
