// MergedLayers: all layers of an index as one cursor, as an iterator merges them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "index/index.h"
#include "index/merge_cursor.h"

namespace cambium::testing {

// The cursor keeps its files open; the page pool must outlive it.
inline std::unique_ptr<EntryCursor> MergedLayers(const Layers& layers,
                                                 const Comparator* comparator = BytewiseComparator()) {
  std::vector<MergeChild> children;
  layers.AppendCursors(&children);
  return std::make_unique<MergeCursor>(comparator, std::move(children));
}

}  // namespace cambium::testing
