#include "iterator.h"

#include <cstring>

namespace cambium_node {

Iterator::Iterator(std::shared_ptr<Database> database, std::shared_ptr<Family> family, std::uint32_t flags,
                   std::shared_ptr<Snapshot> snapshot, std::optional<std::string> lower,
                   std::optional<std::string> upper, std::shared_ptr<Overlay> overlay)
    : database_(std::move(database)),
      family_(std::move(family)),
      snapshot_(std::move(snapshot)),
      overlay_(std::move(overlay)),
      flags_(flags),
      lower_(std::move(lower)),
      upper_(std::move(upper)) {
  // A comparator in JavaScript cannot be asked on this thread: then the first call makes the iterator.
  if (!database_->core().has_comparator()) {
    Make();
  } else if (overlay_ == nullptr && snapshot_ == nullptr && (flags_ & kDurableOnly) == 0) {
    snapshot_ = std::make_shared<Snapshot>(database_);
  }
  database_->iterators.insert(this);
  if (overlay_ != nullptr) overlay_->iterators.insert(this);
}

Iterator::~Iterator() { Destroy(); }

void Iterator::Make() {
  const ReadOptions options(flags_, snapshot_ == nullptr ? nullptr : snapshot_->get());
  if (lower_) cambium_readoptions_set_iterate_lower_bound(options.get(), lower_->data(), lower_->size());
  if (upper_) cambium_readoptions_set_iterate_upper_bound(options.get(), upper_->data(), upper_->size());
  if (overlay_ != nullptr && overlay_->transaction() != nullptr) {
    iterator_ = cambium_transaction_create_iterator_cf(overlay_->transaction(), options.get(), family_->handle());
    return;
  }
  iterator_ = cambium_create_iterator_cf(database_->db(), options.get(), family_->handle());
  if (overlay_ == nullptr) return;
  iterator_ = cambium_writebatch_wi_create_iterator_with_base_cf_readopts(overlay_->batch(), iterator_,
                                                                          family_->handle(), options.get());
}

void Iterator::CheckUsable() const {
  database_->CheckOpen();
  if (is_destroyed_ || is_close_wanted_) throw Failure{"Closed: the iterator is closed"};
  if (is_busy_) throw Failure{"Resource busy: the previous call of the iterator has not ended"};
  if (overlay_ != nullptr) overlay_->CheckUsable();
}

void Iterator::Begin() {
  is_busy_ = true;
  if (overlay_ != nullptr) overlay_->Begin();
}

void Iterator::End() {
  is_busy_ = false;
  if (is_close_wanted_) Destroy();
  if (const std::shared_ptr<Overlay> overlay = overlay_) overlay->End();
}

void Iterator::Close() {
  is_close_wanted_ = true;
  if (!is_busy_) Destroy();
}

void Iterator::Destroy() noexcept {
  if (is_destroyed_) return;
  is_destroyed_ = true;
  database_->iterators.erase(this);
  if (overlay_ != nullptr) overlay_->iterators.erase(this);
  if (!IsForked() && iterator_ != nullptr) cambium_iter_destroy(iterator_);
  iterator_ = nullptr;
  snapshot_.reset();
  family_.reset();
}

void Iterator::Go(Move move, const std::string& key, Error* error) {
  if (iterator_ == nullptr) Make();
  is_positioned_ = true;
  is_read_ = false;
  switch (move) {
    case Move::kFirst:
      cambium_iter_seek_to_first(iterator_);
      break;
    case Move::kLast:
      cambium_iter_seek_to_last(iterator_);
      break;
    case Move::kSeek:
      cambium_iter_seek(iterator_, key.data(), key.size());
      break;
    case Move::kSeekForPrev:
      cambium_iter_seek_for_prev(iterator_, key.data(), key.size());
      break;
    case Move::kNext:
      cambium_iter_next(iterator_);
      break;
    case Move::kPrev:
      cambium_iter_prev(iterator_);
      break;
  }
  if (cambium_iter_valid(iterator_) == 0) cambium_iter_get_error(iterator_, error->Out());
}

void Iterator::Stay(bool is_reverse) {
  if (overlay_ == nullptr || is_read_ || cambium_iter_valid(iterator_) == 0) return;
  std::size_t length = 0;
  const char* const key = cambium_iter_key(iterator_, &length);
  const std::string copy(key, length);
  if (is_reverse) {
    cambium_iter_seek_for_prev(iterator_, copy.data(), copy.size());
  } else {
    cambium_iter_seek(iterator_, copy.data(), copy.size());
  }
}

Iterator::Answer Iterator::Read(const Request& request, Error* error) {
  Answer answer;
  if (request.target) {
    Go(request.is_reverse ? Move::kSeekForPrev : Move::kSeek, *request.target, error);
  } else if (!is_positioned_) {
    Go(request.is_reverse ? Move::kLast : Move::kFirst, {}, error);
  } else {
    Stay(request.is_reverse);
  }
  std::size_t used = 0;
  while (answer.entries < request.entries_max) {
    if (is_read_) {
      is_read_ = false;
      if (request.is_reverse) {
        cambium_iter_prev(iterator_);
      } else {
        cambium_iter_next(iterator_);
      }
    }
    if (cambium_iter_valid(iterator_) == 0) {
      // An error is for the call that finds nothing else, so that no entry is lost.
      Error later;
      cambium_iter_get_error(iterator_, answer.entries == 0 ? error->Out() : later.Out());
      answer.is_at_end = !later.IsSet();
      return answer;
    }
    std::size_t key_length = 0;
    std::size_t value_length = 0;
    const char* const key = request.has_keys ? cambium_iter_key(iterator_, &key_length) : nullptr;
    const char* value = nullptr;
    if (request.has_values) {
      if ((flags_ & kKeysOnly) != 0 && cambium_iter_prepare_value(iterator_) == 0) {
        if (answer.entries == 0) cambium_iter_get_error(iterator_, error->Out());
        return answer;
      }
      value = cambium_iter_value(iterator_, &value_length);
    }
    const std::size_t size = key_length + value_length;
    if (size > request.bytes_max - used) {
      if (answer.entries == 0) answer.needed = size;
      return answer;
    }
    if (key_length > 0) std::memcpy(request.to + used, key, key_length);
    if (value_length > 0) std::memcpy(request.to + used + key_length, value, value_length);
    used += size;
    request.lengths[2 * answer.entries] = static_cast<std::uint32_t>(key_length);
    request.lengths[2 * answer.entries + 1] = static_cast<std::uint32_t>(value_length);
    ++answer.entries;
    is_read_ = true;
  }
  return answer;
}

napi_value Iterator::Key(napi_env env, bool is_text) const {
  std::size_t length = 0;
  const char* const key = cambium_iter_key(iterator_, &length);
  return FromBytes(env, key, length, is_text);
}

napi_value Iterator::Value(napi_env env, bool is_text) const {
  if ((flags_ & kKeysOnly) != 0 && cambium_iter_prepare_value(iterator_) == 0) {
    Error error;
    cambium_iter_get_error(iterator_, error.Out());
    error.Throw();
  }
  std::size_t length = 0;
  const char* const value = cambium_iter_value(iterator_, &length);
  return FromBytes(env, value, length, is_text);
}

std::uint64_t Iterator::ValueSize() const { return cambium_iter_value_size(iterator_); }

namespace {

// (database, family, flags, snapshot, lower, upper, transaction or indexed batch) -> iterator
napi_value NewIterator(const Args& args) {
  const auto& database = DatabaseAt(args, 0);
  database->CheckOpen();
  return Wrap(args.env(), std::make_shared<Iterator>(
                              database, FamilyAt(args, 1, *database), args.Uint32(2), SnapshotAt(args, 3, *database),
                              args.OptionalBytes(4, "the lower bound"), args.OptionalBytes(5, "the upper bound"),
                              OverlayAt(args, 6, *database)));
}

napi_value CloseIterator(const Args& args) {
  args.Get<Iterator>(0)->Close();
  return Undefined(args.env());
}

// (isSync, iterator, move, key) -> whether it is valid
napi_value MoveIterator(const Args& args) {
  const auto iterator = args.Get<Iterator>(1);
  iterator->CheckUsable();
  const auto move = static_cast<Iterator::Move>(args.Uint32(2));
  const bool has_key = move == Iterator::Move::kSeek || move == Iterator::Move::kSeekForPrev;
  const std::string key = has_key ? args.CopyBytes(3, "the key") : std::string();
  const bool is_sync = args.Bool(0);
  if (is_sync) iterator->database()->CheckSync(Work::kRead);
  iterator->Begin();
  return PerformOn(
      args.env(), is_sync, "cambium:move", iterator->database(), Work::kRead,
      [=](Error* error) { iterator->Go(move, key, error); },
      [=](napi_env env) { return FromBool(env, iterator->IsValid()); }, [=] { iterator->End(); });
}

// (isSync, iterator, isReverse, keys: 1 + values: 2, entriesMax, buffer, lengths, target)
//   -> 2 * entries + (1 at the end), or minus the bytes that the next entry needs
napi_value ReadIterator(const Args& args) {
  const auto iterator = args.Get<Iterator>(1);
  iterator->CheckUsable();
  const napi_env env = args.env();
  Iterator::Request request;
  request.is_reverse = args.Bool(2);
  const std::uint32_t what = args.Uint32(3);
  request.has_keys = (what & 1) != 0;
  request.has_values = (what & 2) != 0;
  request.entries_max = args.Uint32(4);
  bool is_buffer = false;
  Check(env, napi_is_buffer(env, args[5], &is_buffer));
  if (!is_buffer) throw WrongType{"the buffer must be a Buffer"};
  void* bytes = nullptr;
  Check(env, napi_get_buffer_info(env, args[5], &bytes, &request.bytes_max));
  request.to = static_cast<char*>(bytes);
  napi_typedarray_type type = napi_int8_array;
  std::size_t lengths = 0;
  if (napi_get_typedarray_info(env, args[6], &type, &lengths, &bytes, nullptr, nullptr) != napi_ok ||
      type != napi_uint32_array || lengths < 2 * request.entries_max) {
    throw WrongType{"the lengths must be a Uint32Array with two numbers for each entry"};
  }
  request.lengths = static_cast<std::uint32_t*>(bytes);
  request.target = args.OptionalBytes(7, "the key");

  auto answer = std::make_shared<Iterator::Answer>();
  const Finish finish = [=](napi_env at_end) {
    return FromNumber(at_end, answer->needed > 0
                                  ? -static_cast<double>(answer->needed)
                                  : static_cast<double>(2 * answer->entries + (answer->is_at_end ? 1 : 0)));
  };
  const bool is_sync = args.Bool(0);
  const auto database = iterator->database();
  if (is_sync) {
    database->CheckSync(Work::kRead);
    Error error;
    RunGuarded([&](Error* its) { *answer = iterator->Read(request, its); }, &error);
    error.Throw();
    return finish(env);
  }
  // The arrays must not be collected while another thread writes to them.
  napi_ref buffer_ref = nullptr;
  napi_ref lengths_ref = nullptr;
  Check(env, napi_create_reference(env, args[5], 1, &buffer_ref));
  Check(env, napi_create_reference(env, args[6], 1, &lengths_ref));
  iterator->Begin();
  return PerformOn(
      env, false, "cambium:read", database, Work::kRead,
      [=](Error* error) { *answer = iterator->Read(request, error); }, finish,
      [=] {
        napi_delete_reference(env, buffer_ref);
        napi_delete_reference(env, lengths_ref);
        iterator->End();
      });
}

const std::shared_ptr<Iterator>& ValidAt(const Args& args) {
  const auto& iterator = args.Get<Iterator>(0);
  iterator->CheckUsable();
  if (!iterator->IsValid()) throw Failure{"Invalid argument: the cursor is not at an entry"};
  return iterator;
}
// (iterator) -> whether it is at an entry
napi_value IteratorIsValid(const Args& args) {
  const auto& iterator = args.Get<Iterator>(0);
  iterator->CheckUsable();
  return FromBool(args.env(), iterator->IsValid());
}
// (iterator, isText)
napi_value IteratorKey(const Args& args) { return ValidAt(args)->Key(args.env(), args.Bool(1)); }
napi_value IteratorValue(const Args& args) { return ValidAt(args)->Value(args.env(), args.Bool(1)); }
napi_value IteratorValueSize(const Args& args) {
  return FromNumber(args.env(), static_cast<double>(ValidAt(args)->ValueSize()));
}

}  // namespace

void ExportIterators(napi_env env, napi_value exports) {
  Export<NewIterator>(env, exports, "newIterator");
  Export<CloseIterator>(env, exports, "closeIterator");
  Export<MoveIterator>(env, exports, "moveIterator");
  Export<ReadIterator>(env, exports, "readIterator");
  Export<IteratorIsValid>(env, exports, "iteratorIsValid");
  Export<IteratorKey>(env, exports, "iteratorKey");
  Export<IteratorValue>(env, exports, "iteratorValue");
  Export<IteratorValueSize>(env, exports, "iteratorValueSize");
}

}  // namespace cambium_node
