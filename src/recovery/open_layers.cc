#include "recovery/open_layers.h"

#include "btree/tree_layers.h"
#include "lsm_fallback/lsm_layers.h"

namespace cambium {

Result<std::shared_ptr<const Layers>> OpenLayers(const FamilyState& state, const Comparator* comparator, PagePool* pool,
                                                 const OpenIndexFile& open_file) {
  if (state.index_type == IndexType::kLsm) {
    CAMBIUM_TRY(std::shared_ptr<const Layers> layers, LsmLayers::Open(state, comparator, pool, open_file));
    return layers;
  }
  CAMBIUM_TRY(std::shared_ptr<const Layers> layers, TreeLayers::Open(state, comparator, pool, open_file));
  return layers;
}

}  // namespace cambium
