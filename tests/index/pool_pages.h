// Leaves and branches in a file in memory, for tests of the page pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/page_builder.h"
#include "index/page_pool.h"
#include "index_test_util.h"

namespace cambium::testing {

inline constexpr std::uint32_t kPageSize = 512;

// Leaves with one tombstone each, "k0", "k1", ..., one unit long, in one file.
struct Pages {
  Pages(std::uint64_t number, std::size_t count, PagePool* pool) : sink(IndexHeader(number, kPageSize)) {
    for (std::size_t i = 0; i < count; ++i) Append("k" + std::to_string(i));
    Open(pool);
  }
  void Append(const std::string& key) {
    LeafBuilder builder(BytewiseComparator(), {kPageSize, 95});
    ASSERT_TRUE(builder.Add(key, Entry::Tombstone()).ok());
    std::string bytes;
    const PageSink::Place place = *sink.Reserve(builder.units());
    const ChildRef ref = builder.Finish(place.id, place.file_seed, &bytes);
    ASSERT_TRUE(sink.Append(ref.page, bytes).ok());
    written.push_back(bytes);
  }
  void Open(PagePool* pool) { file = std::make_shared<const IndexFile>(sink.file, sink.header, pool); }

  MemorySink sink;
  std::vector<std::string> written;
  std::shared_ptr<const IndexFile> file;
};

// Appends a branch over some of these leaves to their file: child i is leaves[i].
inline PagePointer AppendBranch(Pages* pages, const std::vector<std::size_t>& leaves, unsigned level = 1) {
  BranchBuilder builder(BytewiseComparator(), {kPageSize, 95}, level);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_TRUE(builder.Add("s" + std::to_string(100 + i), {pages->sink.pages[leaves[i]], 1, 0}).ok());
  }
  std::string bytes;
  const PageSink::Place place = *pages->sink.Reserve(builder.units());
  const ChildRef ref = builder.Finish(place.id, place.file_seed, nullptr, &bytes);
  EXPECT_TRUE(pages->sink.Append(ref.page, bytes).ok());
  return ref.page;
}

inline std::string FirstKey(const PageRef& ref) {
  std::string scratch;
  return ref->key(0, &scratch).ToString();
}

}  // namespace cambium::testing
