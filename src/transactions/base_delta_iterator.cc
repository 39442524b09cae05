#include "transactions/base_delta_iterator.h"

#include <utility>

#include "api/batch_tags.h"

namespace cambium {
namespace {

std::optional<std::string> Copy(const Slice* bound) {
  return bound == nullptr ? std::nullopt : std::optional(bound->ToString());
}

}  // namespace

BaseDeltaIterator::BaseDeltaIterator(BatchIndex* index, const BatchIndex::Part* part, std::unique_ptr<Iterator> base,
                                     const ReadOptions* options)
    : part_(*part),
      base_(std::move(base)),
      delta_(index, part),
      lower_(options == nullptr ? std::nullopt : Copy(options->iterate_lower_bound)),
      upper_(options == nullptr ? std::nullopt : Copy(options->iterate_upper_bound)) {}

bool BaseDeltaIterator::HasDelta() const {
  if (!delta_.Valid()) return false;
  return is_forward_ ? !upper_ || Compare(delta_.key(), *upper_) < 0 : !lower_ || Compare(delta_.key(), *lower_) >= 0;
}

bool BaseDeltaIterator::DeltaIsValue() {
  delta_.SeekForPrev(std::string(delta_.key()));
  const BatchOp op = delta_.op();
  if (op.tag != kPutTag) return false;
  return part_.covers.empty() || part_.CoverOf(op.key) < delta_.place();
}

bool BaseDeltaIterator::SkipCoveredForward() {
  if (part_.covers.empty() || part_.CoverOf(base_->key()) == 0) return false;
  base_->Seek(part_.StretchOf(base_->key()).to);
  return true;
}

bool BaseDeltaIterator::SkipCoveredBackward() {
  if (part_.covers.empty() || part_.CoverOf(base_->key()) == 0) return false;
  const Slice from = part_.StretchOf(base_->key()).from;
  base_->SeekForPrev(from);
  if (base_->Valid() && Compare(base_->key(), from) == 0) base_->Prev();
  return true;
}

void BaseDeltaIterator::FindForward() {
  while (true) {
    at_ = At::kEnd;
    const bool has_base = base_->Valid();
    if (!has_base && !base_->status().ok()) return;
    const bool has_delta = HasDelta();
    if (!has_base && !has_delta) return;
    const int order = !has_base ? 1 : !has_delta ? -1 : Compare(base_->key(), delta_.key());
    if (order < 0) {
      if (SkipCoveredForward()) continue;
      at_ = At::kBase;
      return;
    }
    if (DeltaIsValue()) {
      at_ = At::kDelta;
      return;
    }
    if (order == 0) base_->Next();
    delta_.NextKey();
  }
}

void BaseDeltaIterator::FindBackward() {
  while (true) {
    at_ = At::kEnd;
    const bool has_base = base_->Valid();
    if (!has_base && !base_->status().ok()) return;
    const bool has_delta = HasDelta();
    if (!has_base && !has_delta) return;
    const int order = !has_base ? -1 : !has_delta ? 1 : Compare(base_->key(), delta_.key());
    if (order > 0) {
      if (SkipCoveredBackward()) continue;
      at_ = At::kBase;
      return;
    }
    if (DeltaIsValue()) {
      at_ = At::kDelta;
      return;
    }
    if (order == 0) base_->Prev();
    delta_.PrevKey();
  }
}

void BaseDeltaIterator::SeekToFirst() {
  is_forward_ = true;
  base_->SeekToFirst();
  if (lower_) {
    delta_.Seek(*lower_);
  } else {
    delta_.SeekToFirst();
  }
  FindForward();
}

void BaseDeltaIterator::SeekToLast() {
  is_forward_ = false;
  base_->SeekToLast();
  if (upper_) {
    delta_.Seek(*upper_);
    if (delta_.Valid()) {
      delta_.PrevKey();
    } else {
      delta_.SeekToLast();
    }
  } else {
    delta_.SeekToLast();
  }
  FindBackward();
}

void BaseDeltaIterator::Seek(Slice target) {
  is_forward_ = true;
  base_->Seek(target);
  delta_.Seek(lower_ && Compare(target, *lower_) < 0 ? Slice(*lower_) : target);
  FindForward();
}

void BaseDeltaIterator::SeekForPrev(Slice target) {
  if (upper_ && Compare(target, *upper_) >= 0) return SeekToLast();
  is_forward_ = false;
  base_->SeekForPrev(target);
  delta_.SeekForPrev(target);
  FindBackward();
}

void BaseDeltaIterator::MoveAfter(const std::string& key) {
  base_->Seek(key);
  if (base_->Valid() && Compare(base_->key(), key) == 0) base_->Next();
  delta_.Seek(key);
  if (delta_.Valid() && Compare(delta_.key(), key) == 0) delta_.NextKey();
}

void BaseDeltaIterator::MoveBefore(const std::string& key) {
  base_->SeekForPrev(key);
  if (base_->Valid() && Compare(base_->key(), key) == 0) base_->Prev();
  delta_.SeekForPrev(key);
  if (delta_.Valid() && Compare(delta_.key(), key) == 0) delta_.PrevKey();
}

void BaseDeltaIterator::Next() {
  if (!Valid()) return;
  if (!is_forward_ || delta_.HasChanged()) {
    is_forward_ = true;
    MoveAfter(key().ToString());
  } else {
    if (base_->Valid() && (at_ == At::kBase || Compare(base_->key(), delta_.key()) == 0)) base_->Next();
    if (at_ == At::kDelta) delta_.NextKey();
  }
  FindForward();
}

void BaseDeltaIterator::Prev() {
  if (!Valid()) return;
  if (is_forward_ || delta_.HasChanged()) {
    is_forward_ = false;
    MoveBefore(key().ToString());
  } else {
    if (base_->Valid() && (at_ == At::kBase || Compare(base_->key(), delta_.key()) == 0)) base_->Prev();
    if (at_ == At::kDelta) delta_.PrevKey();
  }
  FindBackward();
}

bool BaseDeltaIterator::PrepareValue() {
  if (at_ != At::kBase) return Valid();
  if (base_->PrepareValue()) return true;
  at_ = At::kEnd;
  return false;
}

}  // namespace cambium
