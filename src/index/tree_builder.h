// TreeBuilder: builds a tree of pages bottom-up from entries in key order; a run consists of one. It writes a page when
// the next item does not fit, so the pages of a level are as full as possible and nearly in key order in the file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/block_sizer.h"
#include "index/page_builder.h"
#include "index/page_format.h"
#include "index/page_sink.h"
#include "util/compression.h"
#include "util/result.h"

namespace cambium {

// How leaves are compressed; see compressed_page.h. Branches are not.
struct LeafCompression {
  Codec codec = Codec::kNone;
  std::size_t block_size = 0;  // rough size of a leaf before compression: 2 to 32 page sizes. Ignored without a codec
};

// One thread. After an error, every further call returns it, and the pages that were appended to the sink are garbage.
class TreeBuilder {
 public:
  // `compression` sets the size of compressed leaves; options.fill_percent then applies to branches only.
  TreeBuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options,
              const LeafCompression& compression = {});
  ~TreeBuilder();
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  // Keys must strictly ascend, else Corruption ("keys out of order"): the input of a merge comes from other files,
  // which may be damaged.
  Status Add(Slice key, const Entry& entry);

  // Completes all pages. The root is the lowest page with all entries below it. If nothing was added, the height is 0.
  Result<TreeRoot> Finish();

  [[nodiscard]] Slice last_key() const { return last_key_; }
  [[nodiscard]] std::uint64_t entry_count() const { return entry_count_; }
  [[nodiscard]] std::uint64_t value_bytes() const { return value_bytes_; }

 private:
  Status AddEntry(Slice key, const Entry& entry);
  Result<TreeRoot> CloseAll();
  [[nodiscard]] bool FitsLeaf(Slice key, const Entry& entry) const;
  Status CloseLeaf();
  Status CloseBranch(unsigned level);
  Status AddChild(unsigned level, Slice separator, const ChildRef& child);
  template <typename Builder>
  Result<ChildRef> Write(Builder* builder);
  Result<ChildRef> WriteCompressed();  // writes the leaf, raw if compression does not shrink it

  PageSink* const sink_;
  const KeyOrder order_;
  const PageBuilderOptions options_;
  const Codec codec_;
  std::optional<BlockSizer> sizer_;  // only with a codec
  LeafBuilder leaf_;
  std::string leaf_lower_;                                // the separator left of the open leaf
  std::vector<std::unique_ptr<BranchBuilder>> branches_;  // [i] is open at level i + 1
  std::string page_;
  std::string packed_page_;
  std::string last_key_;
  std::uint64_t entry_count_ = 0;
  std::uint64_t value_bytes_ = 0;
  Status status_;
};

}  // namespace cambium
