// Shared by the tests of pages, trees and runs: comparators, key shapes, entries, and a tree in an in-memory file.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "index/index_file.h"
#include "index/page_pool.h"
#include "index/tree_builder.h"
#include "index/tree_cursor.h"
#include "memory_file.h"
#include "testing/key_less.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium::testing {

inline std::vector<const Comparator*> AllComparators() {
  return {BytewiseComparator(), ReverseBytewiseComparator(), CaseFoldingComparator()};
}

// An entry that owns its bytes.
struct OwnedEntry {
  EntryKind kind = EntryKind::kTombstone;
  std::uint64_t word = 0;  // the address, or the version of an inline value
  std::string value;

  [[nodiscard]] Entry view() const {
    if (kind == EntryKind::kInline) return Entry::Inline(value, word);
    return kind == EntryKind::kTombstone ? Entry::Tombstone() : Entry::At(ValueAddress(word));
  }
  [[nodiscard]] bool Is(const Entry& entry) const {
    return entry.kind == kind && entry.address.word() == word && entry.inline_value == value;
  }
};
using Model = std::map<std::string, OwnedEntry, KeyLess>;

inline OwnedEntry RandomEntry(Prng* prng, std::uint32_t page_size) {
  OwnedEntry entry;
  switch (prng->Uniform(6)) {
    case 0:
      entry.kind = EntryKind::kTombstone;
      break;
    case 1:
      entry.kind = EntryKind::kInline;
      entry.value = prng->Bytes(prng->Uniform(MaxInlineSizeFor(page_size) + 1));
      if (prng->OneIn(2)) entry.word = prng->OneIn(4) ? kMaxSequenceNumber : 1 + prng->Skewed(40);
      break;
    case 2:
      entry.kind = EntryKind::kLargeValue;
      entry.word = ValueAddress::OwnFile(static_cast<Slot>(prng->Uniform(1000)), prng->Skewed(30)).word();
      break;
    default:
      entry.kind = EntryKind::kValue;
      entry.word = ValueAddress::InLog(static_cast<Slot>(prng->Uniform(kSlotCountMax)), prng->Uniform(1000) * 8,
                                       prng->Between(40, 1 << 20))
                       .word();
  }
  return entry;
}

enum class KeyShape { kFixed16, kNumbers, kVariable, kSharedEnds, kZerosAndOnes, kTiny, kLong, kMixed };
inline constexpr KeyShape kAllShapes[] = {KeyShape::kFixed16,    KeyShape::kNumbers,      KeyShape::kVariable,
                                          KeyShape::kSharedEnds, KeyShape::kZerosAndOnes, KeyShape::kTiny,
                                          KeyShape::kLong,       KeyShape::kMixed};

inline std::string RandomKey(KeyShape shape, Prng* prng, std::size_t longest) {
  switch (shape) {
    case KeyShape::kFixed16:
      return prng->Bytes(16);
    case KeyShape::kNumbers: {
      std::string key;
      for (int shift = 56; shift >= 0; shift -= 8) key.push_back(static_cast<char>(prng->Next() >> 44 >> shift));
      return key + "00000000";
    }
    case KeyShape::kVariable:
      return prng->Bytes(prng->Skewed(7));
    case KeyShape::kSharedEnds:
      return "user:" + std::to_string(prng->Uniform(1 << 20)) + ":profile";
    case KeyShape::kZerosAndOnes: {
      std::string key(prng->Uniform(12), '\0');
      for (char& c : key) c = prng->OneIn(2) ? '\0' : prng->OneIn(2) ? '\xff' : '\x01';
      return key;
    }
    case KeyShape::kTiny:
      return prng->Bytes(prng->Uniform(3));
    case KeyShape::kLong:
      return prng->Bytes(prng->Between(longest / 2, longest));
    case KeyShape::kMixed:
      return prng->OneIn(20) ? prng->Bytes(prng->Uniform(longest + 1)) : prng->Bytes(prng->Uniform(40));
  }
  return {};
}

inline Model RandomModel(const Comparator* comparator, KeyShape shape, std::size_t entries, std::uint32_t page_size,
                         Prng* prng) {
  Model model{KeyLess{comparator}};
  for (std::size_t i = 0; i < entries; ++i) {
    model[RandomKey(shape, prng, MaxKeySizeFor(page_size))] = RandomEntry(prng, page_size);
  }
  return model;
}

inline FileHeader IndexHeader(std::uint64_t number, std::uint32_t page_size) {
  FileHeader header;
  header.kind = FileKind::kIndex;
  header.number = number;
  header.page_size = page_size;
  header.file_id[0] = static_cast<unsigned char>(number + 1);
  return header;
}

// Appends pages to an in-memory file, with the seeds and places of an index segment.
class MemorySink final : public PageSink {
 public:
  explicit MemorySink(const FileHeader& h, std::shared_ptr<MemoryFile> f = nullptr)
      : header(h), file(f != nullptr ? std::move(f) : std::make_shared<MemoryFile>(std::to_string(h.number) + ".idx")) {
    file->contents = EncodeFileHeader(header);
    file->contents.resize(header.page_size);
  }
  Result<Place> Reserve(unsigned units) override {
    return Place{MakePageId(header.number, file->contents.size() / header.page_size, units), header.Seed()};
  }
  Status Append(PagePointer page, Slice bytes) override {
    EXPECT_EQ(file->contents.size(), UnitOffsetOf(page.id) * header.page_size);
    EXPECT_EQ(bytes.size(), UnitsOf(page.id) * header.page_size);
    file->contents.append(bytes.data(), bytes.size());
    pages.push_back(page);
    return Status::OK();
  }

  const FileHeader header;
  const std::shared_ptr<MemoryFile> file;
  std::vector<PagePointer> pages;
};

// A tree in one file, with everything needed to read it.
struct TestTree {
  static TestTree Build(const Model& model, const Comparator* comparator, std::uint32_t page_size, PagePool* pool,
                        std::uint64_t number = 7, unsigned fill_percent = 95) {
    TestTree tree;
    tree.sink = std::make_unique<MemorySink>(IndexHeader(number, page_size));
    TreeBuilder builder(tree.sink.get(), comparator, {page_size, fill_percent});
    for (const auto& [key, entry] : model) {
      const Status status = builder.Add(key, entry.view());
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    Result<TreeRoot> root = builder.Finish();
    EXPECT_TRUE(root.ok()) << root.status().ToString();
    if (root.ok()) tree.root = *root;
    tree.Open(pool);
    return tree;
  }
  // Opens the file with its current bytes; may be called again.
  void Open(PagePool* pool) {
    files = FileSet();
    files = FileSet(std::make_shared<const IndexFile>(sink->file, sink->header, pool));
  }

  std::unique_ptr<MemorySink> sink;
  TreeRoot root;
  FileSet files;
};

}  // namespace cambium::testing
