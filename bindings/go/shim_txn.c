#include "shim.h"

char* cambium_go_txn_get(cambium_transaction_t* txn, const cambium_readoptions_t* options,
                         cambium_column_family_handle_t* family, int use, const char* key, size_t key_length,
                         char** value, size_t* value_length) {
  char* error = NULL;
  if (use == cambium_go_only_read) {
    *value = cambium_transaction_get_cf(txn, options, family, key, key_length, value_length, &error);
  } else {
    *value = cambium_transaction_get_for_update_cf(txn, options, family, key, key_length, value_length,
                                                   use == cambium_go_exclusive, &error);
  }
  return error;
}

char* cambium_go_txn_put(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                         size_t key_length, const char* value, size_t value_length) {
  char* error = NULL;
  cambium_transaction_put_cf(txn, family, key, key_length, value, value_length, &error);
  return error;
}

char* cambium_go_txn_delete(cambium_transaction_t* txn, cambium_column_family_handle_t* family, const char* key,
                            size_t key_length) {
  char* error = NULL;
  cambium_transaction_delete_cf(txn, family, key, key_length, &error);
  return error;
}

char* cambium_go_txn_iterator(cambium_transaction_t* txn, int flags, const cambium_snapshot_t* snapshot,
                              const char* lower, size_t lower_length, const char* upper, size_t upper_length,
                              cambium_column_family_handle_t* family, uintptr_t* iterator) {
  char* error = NULL;
  cambium_readoptions_t* const options = cambium_go_read_options(flags, snapshot);
  cambium_readoptions_set_iterate_lower_bound(options, lower, lower_length);
  cambium_readoptions_set_iterate_upper_bound(options, upper, upper_length);
  cambium_iterator_t* const made = cambium_transaction_create_iterator_cf(txn, options, family);
  cambium_readoptions_destroy(options);
  cambium_iter_get_error(made, &error);
  if (error != NULL) cambium_iter_destroy(made);
  *iterator = (uintptr_t)made;
  return error;
}
