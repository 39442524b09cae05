// Iterators. RocksDB's may be refreshed, may follow the newest state (tailing), may be given other bounds between two
// seeks, and may end at the end of a prefix. This library's iterators keep their state and bounds. So the object here
// makes a new one where that is needed; with other bounds, of the same state.
#include "read/empty_iterator.h"
#include "rocksdb_c/objects.h"
#include "rocksdb_c/prefix.h"

using namespace cambium::rocks;
using cambium::ColumnFamilyHandle;
using cambium::Iterator;
using cambium::ReadOptions;
using cambium::Slice;
using cambium::Snapshot;
using cambium::Status;

struct rocksdb_iterator_t {
  rocksdb_iterator_t(std::shared_ptr<cambium::DB> its_db, ColumnFamilyHandle* its_family,
                     const rocksdb_readoptions_t& its_options, std::shared_ptr<const RocksPrefix> its_extractor)
      : db(std::move(its_db)),
        family(its_family),
        options(its_options.Rep()),
        tails(its_options.tailing != 0),
        extractor(its_options.prefix_same_as_start != 0 ? std::move(its_extractor) : nullptr),
        bounds(its_options.lower.has_value() || its_options.upper.has_value() ? &its_options : nullptr) {
    // RocksDB's iterator refers to the bounds in the caller's options, which must live as long as the iterator.
    TakeBounds();
  }
  // Sets the snapshot that the next Make reads. The caller has reset `rep`.
  void SetState(std::shared_ptr<const Snapshot> its_state) {
    options.snapshot = its_state.get();
    state = std::move(its_state);
  }
  // Whether it may have to be made again with other bounds, of the same state.
  [[nodiscard]] bool NeedsState() const { return bounds != nullptr && !tails && options.snapshot == nullptr; }

  // An iterator that has nothing but an error.
  explicit rocksdb_iterator_t(Status error)
      : family(nullptr),
        tails(false),
        bounds(nullptr),
        rep(std::make_unique<cambium::EmptyIterator>(std::move(error))) {}

  void TakeBounds() {
    if (bounds == nullptr) return;
    lower = bounds->lower.has_value() ? std::optional(bounds->lower->ToString()) : std::nullopt;
    upper = bounds->upper.has_value() ? std::optional(bounds->upper->ToString()) : std::nullopt;
  }
  [[nodiscard]] bool HasOtherBounds() const {
    if (bounds == nullptr) return false;
    const auto differs = [](const std::optional<std::string>& mine, const std::optional<Slice>& its) {
      return mine.has_value() != its.has_value() || (mine.has_value() && Slice(*mine) != *its);
    };
    return differs(lower, bounds->lower) || differs(upper, bounds->upper);
  }
  Status Make() {
    rep.reset();  // first: it may hold files that the new one does not need
    return WithBounds([&](const ReadOptions& read) {
      rep.reset(db->NewIterator(read, family));
      return rep->status();
    });
  }
  // Calls `make` with the options of an iterator with these bounds.
  template <typename Make>
  Status WithBounds(Make make) const {
    ReadOptions read = options;
    const Slice lower_slice = lower.has_value() ? Slice(*lower) : Slice();
    const Slice upper_slice = upper.has_value() ? Slice(*upper) : Slice();
    if (lower.has_value()) read.iterate_lower_bound = &lower_slice;
    if (upper.has_value()) read.iterate_upper_bound = &upper_slice;
    return make(read);
  }
  // Called before each seek.
  void Prepare() {
    if (!tails && !HasOtherBounds()) return;
    TakeBounds();
    static_cast<void>(Make());  // the iterator has the error
  }
  void StartPrefix(Slice target) {
    has_prefix = extractor != nullptr && extractor->InDomain(target);
    if (has_prefix) prefix = extractor->Transform(target);
  }
  // After SeekToFirst and SeekToLast, the prefix is that of the entry found.
  void StartPrefixHere() {
    has_prefix = false;
    if (rep->Valid()) StartPrefix(rep->key());
  }
  // At the end, an iterator that follows the newest state looks for entries that were written meanwhile.
  void Next() {
    if (!tails || !rep->Valid()) return rep->Next();
    const std::string last = rep->key().ToString();
    rep->Next();
    if (rep->Valid() || !rep->status().ok()) return;
    static_cast<void>(Make());  // the iterator has the error
    rep->Seek(last);
    if (rep->Valid() && rep->key() == last) rep->Next();
  }
  [[nodiscard]] bool Valid() const {
    if (!rep->Valid()) return false;
    return !has_prefix || (extractor->InDomain(rep->key()) && extractor->Transform(rep->key()) == prefix);
  }

  const std::shared_ptr<cambium::DB> db;
  ColumnFamilyHandle* const family;
  ReadOptions options;
  const bool tails;
  const std::shared_ptr<const RocksPrefix> extractor;
  const rocksdb_readoptions_t* const bounds;
  std::optional<std::string> lower;
  std::optional<std::string> upper;
  bool has_prefix = false;
  std::string prefix;
  std::shared_ptr<const Snapshot> state;  // null: the iterator is not made again, or at the caller's snapshot
  std::unique_ptr<Iterator> rep;
};

namespace {

std::shared_ptr<const Snapshot> SnapshotOf(const std::shared_ptr<cambium::DB>& db) {
  return {db->GetSnapshot(), [db](const Snapshot* snapshot) {
            if (snapshot != nullptr) db->ReleaseSnapshot(snapshot);
          }};
}

rocksdb_iterator_t* New(rocksdb_t* db, ColumnFamilyHandle* family, const rocksdb_readoptions_t* options,
                        std::shared_ptr<const RocksPrefix> extractor) {
  auto* const made = new rocksdb_iterator_t(db->rep, family, *options, std::move(extractor));
  if (made->NeedsState()) made->SetState(SnapshotOf(db->rep));
  static_cast<void>(made->Make());  // the iterator has the error
  return made;
}

}  // namespace

namespace cambium::rocks {

rocksdb_iterator_t* ReplaceByError(rocksdb_iterator_t* base, Status error) {
  delete base;
  return new rocksdb_iterator_t(std::move(error));
}

}  // namespace cambium::rocks

extern "C" {

rocksdb_iterator_t* rocksdb_create_iterator(rocksdb_t* db, const rocksdb_readoptions_t* options) {
  return New(db, db->rep->DefaultColumnFamily(), options, db->prefix_extractor);
}
rocksdb_iterator_t* rocksdb_create_iterator_cf(rocksdb_t* db, const rocksdb_readoptions_t* options,
                                               rocksdb_column_family_handle_t* family) {
  return New(db, RepOf(family), options, family->prefix_extractor);
}
void rocksdb_create_iterators(rocksdb_t* db, rocksdb_readoptions_t* options, rocksdb_column_family_handle_t** families,
                              rocksdb_iterator_t** iterators, size_t count, char** errptr) {
  Guarded(errptr, [&] {
    std::vector<ColumnFamilyHandle*> handles;
    std::vector<std::unique_ptr<rocksdb_iterator_t>> wrapped;
    for (size_t i = 0; i < count; ++i) {
      handles.push_back(RepOf(families[i]));
      wrapped.push_back(
          std::make_unique<rocksdb_iterator_t>(db->rep, RepOf(families[i]), *options, families[i]->prefix_extractor));
    }
    if (count == 0) return Status::OK();
    // They show one state, also if one of them is made again with other bounds.
    if (wrapped[0]->NeedsState()) {
      const std::shared_ptr<const Snapshot> state = SnapshotOf(db->rep);
      for (const auto& each : wrapped) each->SetState(state);
    }
    std::vector<Iterator*> made;
    Status status = wrapped[0]->WithBounds(
        [&](const ReadOptions& read) { return db->rep->NewIterators(read, handles, &made); });
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
  Guarded(errptr, [&] {
    auto* const its = const_cast<rocksdb_iterator_t*>(iterator);
    its->rep.reset();
    its->SetState(nullptr);
    if (its->NeedsState()) its->SetState(SnapshotOf(its->db));
    return its->Make();
  });
}

}  // extern "C"
