// OpenLayers opens the durable layers of a family, for either index.
#pragma once

#include <memory>

#include "index/family_files.h"
#include "index/index.h"
#include "index/page_pool.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

// Errors are those of TreeLayers::Open and LsmLayers::Open. `comparator` and `pool` must outlive the layers.
Result<std::shared_ptr<const Layers>> OpenLayers(const FamilyState& state, const Comparator* comparator, PagePool* pool,
                                                 const OpenIndexFile& open_file);

}  // namespace cambium
