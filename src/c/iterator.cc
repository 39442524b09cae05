#include "c/wrappers.h"

using cambium::Slice;
using cambium::Status;
using cambium::c::Guarded;
using cambium::c::RepOf;
using cambium::c::Truth;

cambium_iterator_t* cambium_create_iterator(cambium_t* db, const cambium_readoptions_t* options) {
  return new cambium_iterator_t{std::unique_ptr<cambium::Iterator>(db->rep->NewIterator(options->rep))};
}
cambium_iterator_t* cambium_create_iterator_cf(cambium_t* db, const cambium_readoptions_t* options,
                                               cambium_column_family_handle_t* family) {
  return new cambium_iterator_t{std::unique_ptr<cambium::Iterator>(db->rep->NewIterator(options->rep, RepOf(family)))};
}
void cambium_create_iterators(cambium_t* db, const cambium_readoptions_t* options,
                              cambium_column_family_handle_t* const* families, cambium_iterator_t** iterators,
                              size_t num_families, char** errptr) {
  Guarded(errptr, [&]() -> Status {
    std::vector<cambium::ColumnFamilyHandle*> handles;
    std::vector<std::unique_ptr<cambium_iterator_t>> wrapped;
    for (size_t i = 0; i < num_families; ++i) {
      handles.push_back(RepOf(families[i]));
      wrapped.push_back(std::make_unique<cambium_iterator_t>());
    }
    std::vector<cambium::Iterator*> made;
    if (Status status = db->rep->NewIterators(options->rep, handles, &made); !status.ok()) return status;
    for (size_t i = 0; i < num_families; ++i) {
      wrapped[i]->rep.reset(made[i]);
      iterators[i] = wrapped[i].release();
    }
    return Status::OK();
  });
}
void cambium_iter_destroy(cambium_iterator_t* iterator) { delete iterator; }

unsigned char cambium_iter_valid(const cambium_iterator_t* iterator) { return Truth(iterator->rep->Valid()); }
void cambium_iter_seek_to_first(cambium_iterator_t* iterator) { iterator->rep->SeekToFirst(); }
void cambium_iter_seek_to_last(cambium_iterator_t* iterator) { iterator->rep->SeekToLast(); }
void cambium_iter_seek(cambium_iterator_t* iterator, const char* key, size_t key_length) {
  iterator->rep->Seek(Slice(key, key_length));
}
void cambium_iter_seek_for_prev(cambium_iterator_t* iterator, const char* key, size_t key_length) {
  iterator->rep->SeekForPrev(Slice(key, key_length));
}
void cambium_iter_next(cambium_iterator_t* iterator) { iterator->rep->Next(); }
void cambium_iter_prev(cambium_iterator_t* iterator) { iterator->rep->Prev(); }

const char* cambium_iter_key(const cambium_iterator_t* iterator, size_t* key_length) {
  const Slice key = iterator->rep->key();
  *key_length = key.size();
  return key.data();
}
const char* cambium_iter_value(const cambium_iterator_t* iterator, size_t* value_length) {
  const Slice value = iterator->rep->value();
  *value_length = value.size();
  return value.data();
}
unsigned char cambium_iter_prepare_value(cambium_iterator_t* iterator) { return Truth(iterator->rep->PrepareValue()); }
uint64_t cambium_iter_value_size(const cambium_iterator_t* iterator) { return iterator->rep->ValueSize(); }
void cambium_iter_get_error(const cambium_iterator_t* iterator, char** errptr) {
  Guarded(errptr, [&] { return iterator->rep->status(); });
}
