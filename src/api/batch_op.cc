#include "api/batch_op.h"

#include "api/batch_tags.h"
#include "cambium/db.h"
#include "util/coding.h"

namespace cambium {

bool TakeBatchOp(Slice* rest, BatchOp* op) {
  if (rest->empty()) return false;
  const bool has_family = ((*rest)[0] & kFamilyBit) != 0;
  op->tag = static_cast<char>((*rest)[0] & ~kFamilyBit);
  rest->remove_prefix(1);
  std::uint64_t id = 0;
  op->value.clear();
  const bool has_value = op->tag == kPutTag || op->tag == kDeleteRangeTag;
  const bool is_whole = op->tag >= kPutTag && op->tag <= kDeleteRangeTag && (!has_family || GetVarint64(rest, &id)) &&
                        id <= 0xffffffffu && GetLengthPrefixed(rest, &op->key) &&
                        (!has_value || GetLengthPrefixed(rest, &op->value));
  op->family = static_cast<std::uint32_t>(id);
  return is_whole && op->key.size() <= kMaxKeyBytes &&
         op->value.size() <= (op->tag == kDeleteRangeTag ? kMaxKeyBytes : kMaxValueBytes);
}

}  // namespace cambium
