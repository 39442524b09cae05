// TreeBuilder: a tree of pages from entries in key order, bottom-up: what a run is made of. A page is written when the
// next item does not fit, so the pages of a level are as full as they can be, and nearly in the order of their keys.
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

// How leaves are compressed; see compressed_page.h. Branches never are.
struct LeafCompression {
  Codec codec = Codec::kNone;
  std::size_t block_size = 0;  // of a leaf before compression, roughly: 2 to 32 page sizes. Of no use without a codec.
};

// One thread. After an error every further call returns it. What was appended to the sink before is then garbage.
class TreeBuilder {
 public:
  // Compressed leaves are as long as `compression` says; the fill of `options` is then that of branches.
  TreeBuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options,
              const LeafCompression& compression = {});
  ~TreeBuilder();
  TreeBuilder(const TreeBuilder&) = delete;
  TreeBuilder& operator=(const TreeBuilder&) = delete;

  // Strictly behind everything added so far: Corruption ("keys out of order") if not, because the input of a merge is
  // what other files say.
  Status Add(Slice key, const Entry& entry);

  // Closes all pages. The root is the lowest page that everything is below. height 0 if nothing was added.
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
  Result<ChildRef> WriteCompressed();  // the leaf; raw, if it does not shrink

  PageSink* const sink_;
  const KeyOrder order_;
  const PageBuilderOptions options_;
  const Codec codec_;
  std::optional<BlockSizer> sizer_;  // if there is a codec
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
