/* A transfer between two accounts in C: both change, or none does. */
#include <cambium/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cambium_readoptions_t* reads;
static cambium_writeoptions_t* writes;
static cambium_optimistictransaction_options_t* optimistic;

/* What an account has. The transaction tracks the key: if others change it, the commit fails. */
static long money(cambium_transaction_t* txn, const char* account, char** error) {
  size_t length = 0;
  char text[30] = "";
  char* const value = cambium_transaction_get_for_update(txn, reads, account, strlen(account), &length, 1, error);
  if (value != NULL && length < sizeof text) memcpy(text, value, length);
  cambium_free(value);
  return atol(text);
}

static void set_money(cambium_transaction_t* txn, const char* account, long amount, char** error) {
  char text[30];
  const int length = snprintf(text, sizeof text, "%ld", amount);
  cambium_transaction_put(txn, account, strlen(account), text, (size_t)length, error);
}

/* Whether the same work may succeed in a new transaction. */
static int is_conflict(const char* error) {
  const int code = cambium_error_code(error);
  return code == cambium_code_busy || code == cambium_code_try_again;
}

static void transfer(cambium_t* db, const char* from, const char* to, long amount, char** error) {
  for (;;) {
    cambium_transaction_t* const txn = cambium_begin_optimistic_transaction(db, writes, optimistic, error);
    long has = 0;
    long gets = 0;
    if (*error == NULL) has = money(txn, from, error);
    if (*error == NULL) gets = money(txn, to, error);
    if (*error == NULL) set_money(txn, from, has - amount, error);
    if (*error == NULL) set_money(txn, to, gets + amount, error);
    if (*error == NULL) cambium_transaction_commit(txn, error);
    cambium_transaction_destroy(txn); /* rolls back what was not committed */
    if (*error == NULL || !is_conflict(*error)) return;
    cambium_free(*error);
    *error = NULL;
  }
}

int main(int argc, char** argv) {
  char* error = NULL;
  char* value = NULL;
  size_t length = 0;
  cambium_options_t* const options = cambium_options_create();
  cambium_t* db;
  reads = cambium_readoptions_create();
  writes = cambium_writeoptions_create();
  optimistic = cambium_optimistictransaction_options_create();
  cambium_options_set_create_if_missing(options, 1);

  db = cambium_open(options, argc > 1 ? argv[1] : "transfer.db", &error);
  if (error == NULL) cambium_put(db, writes, "anna", 4, "100", 3, &error);
  if (error == NULL) cambium_put(db, writes, "ben", 3, "0", 1, &error);
  if (error == NULL) transfer(db, "anna", "ben", 30, &error);
  if (error == NULL) value = cambium_get(db, reads, "ben", 3, &length, &error);
  if (value != NULL) printf("ben has %.*s\n", (int)length, value);
  if (error == NULL) cambium_close_with_status(db, &error);

  if (error != NULL) fprintf(stderr, "%s\n", error);
  cambium_free(value);
  cambium_optimistictransaction_options_destroy(optimistic);
  cambium_writeoptions_destroy(writes);
  cambium_readoptions_destroy(reads);
  cambium_options_destroy(options);
  return error == NULL ? 0 : 1;
}
