/* Writes a value that is kept in the log, closes, opens again and reads it, in C. */
#include <cambium/c.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  char value[10000];
  char* error = NULL;
  char* found = NULL;
  size_t found_size = 0;
  int same = 0;
  cambium_options_t* options = cambium_options_create();
  cambium_writeoptions_t* write = cambium_writeoptions_create();
  cambium_readoptions_t* read = cambium_readoptions_create();
  cambium_t* db;
  if (argc != 2) return 2;
  memset(value, 'v', sizeof value);
  cambium_options_set_create_if_missing(options, 1);
  db = cambium_open(options, argv[1], &error);
  if (error == NULL) {
    cambium_put(db, write, "key", 3, value, sizeof value, &error);
    cambium_close(db);
  }
  if (error == NULL) db = cambium_open(options, argv[1], &error);
  if (error == NULL) {
    found = cambium_get(db, read, "key", 3, &found_size, &error);
    cambium_close(db);
  }
  if (error != NULL) fprintf(stderr, "%s\n", error);
  same = found != NULL && found_size == sizeof value && memcmp(found, value, sizeof value) == 0;
  cambium_free(found);
  cambium_free(error);
  cambium_readoptions_destroy(read);
  cambium_writeoptions_destroy(write);
  cambium_options_destroy(options);
  return same ? 0 : 1;
}
