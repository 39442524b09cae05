// MergedLayers: merges all layers of an index into one cursor, as an iterator does.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "index/merge_cursor.h"

namespace cambium::testing {

// `layers` is an LsmLayers or a TreeLayers. The cursor keeps its files open; the page pool must outlive it.
template <typename AnyLayers>
std::unique_ptr<EntryCursor> MergedLayers(const AnyLayers& layers) {
  std::vector<MergeChild> children;
  layers.AppendCursors(&children);
  return std::make_unique<MergeCursor>(layers.parts().comparator, std::move(children));
}

}  // namespace cambium::testing
