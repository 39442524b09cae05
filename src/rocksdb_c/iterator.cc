// Iterators.
#include "rocksdb_c/iterator.h"

#include <algorithm>

#include "read/empty_iterator.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::Iterator;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::Snapshot;
using cambium::Status;

namespace cambium::rocks {
namespace {

const rocksdb_readoptions_t& NoBounds() {
  static const rocksdb_readoptions_t none;
  return none;
}

std::shared_ptr<const Snapshot> SnapshotOf(const std::shared_ptr<DB>& db) {
  return {db->GetSnapshot(), [db](const Snapshot* snapshot) {
            if (snapshot != nullptr) db->ReleaseSnapshot(snapshot);
          }};
}

}  // namespace

void Bounds::Take() {
  if (options_ == nullptr) return;
  lower_ = options_->lower.has_value() ? std::optional(options_->lower->ToString()) : std::nullopt;
  upper_ = options_->upper.has_value() ? std::optional(options_->upper->ToString()) : std::nullopt;
  lower_slice_ = lower_.has_value() ? Slice(*lower_) : Slice();
  upper_slice_ = upper_.has_value() ? Slice(*upper_) : Slice();
}

bool Bounds::HaveChanged() const {
  if (options_ == nullptr) return false;
  const auto differs = [](const std::optional<std::string>& mine, const std::optional<Slice>& its) {
    return mine.has_value() != its.has_value() || (mine.has_value() && Slice(*mine) != *its);
  };
  return differs(lower_, options_->lower) || differs(upper_, options_->upper);
}

rocksdb_iterator_t* NewIterator(std::shared_ptr<DB> db, IteratorSource source, const rocksdb_readoptions_t& options,
                                std::shared_ptr<const RocksPrefix> extractor) {
  auto made = std::make_unique<rocksdb_iterator_t>(std::move(db), std::move(source), options, std::move(extractor));
  if (made->NeedsState()) made->SetState(SnapshotOf(made->db));
  static_cast<void>(made->Make());  // the iterator has the error
  return made.release();
}

rocksdb_iterator_t* NewErrorIterator(Status error) { return new rocksdb_iterator_t(std::move(error)); }

}  // namespace cambium::rocks

rocksdb_iterator_t::rocksdb_iterator_t(std::shared_ptr<cambium::DB> its_db, IteratorSource its_source,
                                       const rocksdb_readoptions_t& its_options,
                                       std::shared_ptr<const RocksPrefix> its_extractor)
    : db(std::move(its_db)),
      source(std::move(its_source)),
      options(its_options.Rep()),
      tails(its_options.tailing != 0),
      extractor(its_options.prefix_same_as_start != 0 ? std::move(its_extractor) : nullptr),
      bounds(its_options) {}

rocksdb_iterator_t::rocksdb_iterator_t(Status error)
    : source([error = std::move(error)](const ReadOptions&) { return new cambium::EmptyIterator(error); }),
      tails(false),
      bounds(NoBounds()),
      rep(source({})) {}

void rocksdb_iterator_t::SetState(std::shared_ptr<const Snapshot> its_state) {
  options.snapshot = its_state.get();
  state = std::move(its_state);
}

ReadOptions rocksdb_iterator_t::Read() const {
  ReadOptions read = options;
  bounds.SetIn(&read);
  return read;
}

Status rocksdb_iterator_t::Make() {
  rep.reset();  // first: it may hold files that the new one does not need
  rep.reset(source(Read()));
  return rep->status();
}

void rocksdb_iterator_t::AddBatch(cambium::WriteBatchWithIndex* batch, ColumnFamilyHandle* family,
                                  const rocksdb_readoptions_t* its_options) {
  const auto its_bounds = std::make_shared<Bounds>(its_options == nullptr ? NoBounds() : *its_options);
  const auto above = [batch, family, its_bounds](Iterator* base) {
    ReadOptions read;
    its_bounds->SetIn(&read);
    return batch->NewIteratorWithBase(family, base, &read);
  };
  batch_bounds.push_back(its_bounds);
  rep.reset(above(rep.release()));
  source = [below = std::move(source), above](const ReadOptions& read) { return above(below(read)); };
  has_prefix = false;
}

void rocksdb_iterator_t::Prepare() {
  const auto have_changed = [](const auto& each) { return each->HaveChanged(); };
  if (!tails && !bounds.HaveChanged() && std::ranges::none_of(batch_bounds, have_changed)) return;
  bounds.Take();
  for (const auto& each : batch_bounds) each->Take();
  static_cast<void>(Make());  // the iterator has the error
}

void rocksdb_iterator_t::StartPrefix(Slice target) {
  has_prefix = extractor != nullptr && extractor->InDomain(target);
  if (has_prefix) prefix = extractor->Transform(target);
}

void rocksdb_iterator_t::StartPrefixHere() {
  has_prefix = false;
  if (rep->Valid()) StartPrefix(rep->key());
}

void rocksdb_iterator_t::Next() {
  if (!tails || !rep->Valid()) return rep->Next();
  const std::string last = rep->key().ToString();
  rep->Next();
  if (rep->Valid() || !rep->status().ok()) return;
  static_cast<void>(Make());  // the iterator has the error
  rep->Seek(last);
  if (rep->Valid() && rep->key() == last) rep->Next();
}

bool rocksdb_iterator_t::Valid() const {
  if (!rep->Valid()) return false;
  return !has_prefix || (extractor->InDomain(rep->key()) && extractor->Transform(rep->key()) == prefix);
}

Status rocksdb_iterator_t::Refresh() {
  rep.reset();
  SetState(nullptr);
  if (NeedsState()) SetState(SnapshotOf(db));
  return Make();
}

namespace {

// Returns the function that makes an iterator over a family of the database.
IteratorSource SourceOf(const rocksdb_t* db, ColumnFamilyHandle* family) {
  return [its = db->rep.get(), family](const ReadOptions& read) { return its->NewIterator(read, family); };
}

}  // namespace

extern "C" {

rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db, const rocksdb_readoptions_t* options) {
  return NewIterator(db->rep, SourceOf(db, db->rep->DefaultColumnFamily()), *options, db->prefix_extractor);
}
rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family) {
  return NewIterator(db->rep, SourceOf(db, RepOf(family)), *options, family->prefix_extractor);
}
void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options, rocksdb_column_family_handle_t** families,
                              rocksdb_iterator_t** iterators, size_t count, char** errptr) {
  Guarded(errptr, [&] {
    std::vector<ColumnFamilyHandle*> handles;
    std::vector<std::unique_ptr<rocksdb_iterator_t>> wrapped;
    for (size_t i = 0; i < count; ++i) {
      handles.push_back(RepOf(families[i]));
      wrapped.push_back(std::make_unique<rocksdb_iterator_t>(db->rep, SourceOf(db, RepOf(families[i])), *options,
                                                             families[i]->prefix_extractor));
    }
    if (count == 0) return Status::OK();
    // All show one state, also if one of them is made again with other bounds.
    if (wrapped[0]->NeedsState()) {
      const std::shared_ptr<const Snapshot> state = SnapshotOf(db->rep);
      for (const auto& each : wrapped) each->SetState(state);
    }
    std::vector<Iterator*> made;
    Status status = db->rep->NewIterators(wrapped[0]->Read(), handles, &made);
    for (size_t i = 0; i < count && status.ok(); ++i) {
      wrapped[i]->rep.reset(made[i]);
      iterators[i] = wrapped[i].release();
    }
    return status;
  });
}
void rocksdb_iter_destroy(rocksdb_iterator_t* iterator) { delete iterator; }

unsigned char rocksdb_iter_valid(const rocksdb_iterator_t* iterator) { return Truth(iterator->Valid()); }
void rocksdb_iter_seek_to_first(rocksdb_iterator_t* iterator) {
  iterator->Prepare();
  iterator->rep->SeekToFirst();
  iterator->StartPrefixHere();
}
void rocksdb_iter_seek_to_last(rocksdb_iterator_t* iterator) {
  iterator->Prepare();
  iterator->rep->SeekToLast();
  iterator->StartPrefixHere();
}
void rocksdb_iter_seek(rocksdb_iterator_t* iterator, const char* key, size_t length) {
  iterator->Prepare();
  iterator->StartPrefix(Slice(key, length));
  iterator->rep->Seek(Slice(key, length));
}
void rocksdb_iter_seek_for_prev(rocksdb_iterator_t* iterator, const char* key, size_t length) {
  iterator->Prepare();
  iterator->StartPrefix(Slice(key, length));
  iterator->rep->SeekForPrev(Slice(key, length));
}
void rocksdb_iter_next(rocksdb_iterator_t* iterator) { iterator->Next(); }
void rocksdb_iter_prev(rocksdb_iterator_t* iterator) { iterator->rep->Prev(); }

const char* rocksdb_iter_key(const rocksdb_iterator_t* iterator, size_t* length) {
  const Slice key = iterator->rep->key();
  *length = key.size();
  return key.data();
}
const char* rocksdb_iter_value(const rocksdb_iterator_t* iterator, size_t* length) {
  const Slice value = iterator->rep->value();
  *length = value.size();
  return value.data();
}
rocksdb_slice_t rocksdb_iter_key_slice(const rocksdb_iterator_t* iterator) {
  const Slice key = iterator->rep->key();
  return {key.data(), key.size()};
}
rocksdb_slice_t rocksdb_iter_value_slice(const rocksdb_iterator_t* iterator) {
  const Slice value = iterator->rep->value();
  return {value.data(), value.size()};
}
const char* rocksdb_iter_timestamp(const rocksdb_iterator_t* /*iterator*/, size_t* length) {
  *length = 0;
  return "";
}
rocksdb_slice_t rocksdb_iter_timestamp_slice(const rocksdb_iterator_t* /*iterator*/) { return {"", 0}; }
void rocksdb_iter_get_error(const rocksdb_iterator_t* iterator, char** errptr) {
  Guarded(errptr, [&] { return iterator->rep->status(); });
}
// From now on the iterator shows the newest state, also if it was made at a snapshot. The parameter is const in
// RocksDB's header too.
void rocksdb_iter_refresh(const rocksdb_iterator_t* iterator, char** errptr) {
  Guarded(errptr, [&] { return const_cast<rocksdb_iterator_t*>(iterator)->Refresh(); });
}

}  // extern "C"
