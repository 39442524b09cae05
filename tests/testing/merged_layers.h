// MergedLayers: all layers of an index as one cursor, as an iterator merges them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "index/merge_cursor.h"

namespace cambium::testing {

// `layers` are an LsmLayers or a TreeLayers. The cursor keeps open what it reads; the page pool must outlive it.
template <typename AnyLayers>
std::unique_ptr<EntryCursor> MergedLayers(const AnyLayers& layers) {
  std::vector<MergeChild> children;
  layers.AppendCursors(&children);
  return std::make_unique<MergeCursor>(layers.parts().comparator, std::move(children));
}

}  // namespace cambium::testing
