#include <cambium/c.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  char* error = NULL;
  char* value = NULL;
  size_t length = 0;
  cambium_options_t* const options = cambium_options_create();
  cambium_writeoptions_t* const durable = cambium_writeoptions_create();
  cambium_readoptions_t* const read = cambium_readoptions_create();
  cambium_t* db;
  cambium_options_set_create_if_missing(options, 1);
  cambium_writeoptions_set_sync(durable, 1);

  db = cambium_open(options, argc > 1 ? argv[1] : "quickstart.db", &error);
  if (error == NULL) cambium_put(db, durable, "oak", 3, "a ring a year", strlen("a ring a year"), &error);
  if (error == NULL) value = cambium_get(db, read, "oak", 3, &length, &error);
  if (value != NULL) printf("oak: %.*s\n", (int)length, value);
  cambium_close(db);

  if (error != NULL) fprintf(stderr, "%s\n", error);
  cambium_free(value);
  cambium_readoptions_destroy(read);
  cambium_writeoptions_destroy(durable);
  cambium_options_destroy(options);
  return error == NULL ? 0 : 1;
}
