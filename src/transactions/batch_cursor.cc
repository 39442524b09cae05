#include "transactions/batch_cursor.h"

#include <cassert>
#include <iterator>

namespace cambium {

void BatchCursor::Set(BatchIndex::Ops::const_iterator at) {
  version_ = index_.version();
  at_ = at;
  is_valid_ = at != part_.ops.end();
  if (!is_valid_) return;
  place_ = at->at;
  const Slice key = part_.KeyOf(*at);
  key_.assign(key.data(), key.size());
}

void BatchCursor::SetBefore(BatchIndex::Ops::const_iterator at) {
  Set(at == part_.ops.begin() ? part_.ops.end() : std::prev(at));
}

void BatchCursor::Next() {
  assert(is_valid_);
  Set(HasChanged() ? Current().LowerBound({key_, place_ + 1}) : std::next(at_));
}

void BatchCursor::Prev() {
  assert(is_valid_);
  SetBefore(HasChanged() ? Current().LowerBound({key_, place_}) : at_);
}

}  // namespace cambium
