#include "shim.h"

#include <stdlib.h>
#include <string.h>

/* A read in flight, then an answer that waits to be taken. */
typedef struct read_t {
  cambium_go_reader_t* reader;
  cambium_go_answer_t answer;
  struct read_t* next;
} read_t;

struct cambium_go_reader_t {
  cambium_asyncreader_t* rep;
  read_t* first; /* answers, in their order */
  read_t** end;
};

static char* copy_of(const char* bytes, size_t length) {
  char* const copy = malloc(length + 1);
  if (copy == NULL) return NULL;
  if (length != 0) memcpy(copy, bytes, length);
  copy[length] = '\0';
  return copy;
}

static void end_read(void* state, const char* value, size_t value_length, const char* error) {
  read_t* const read = state;
  if (error != NULL) {
    read->answer.failed = 1;
    read->answer.error = (uintptr_t)copy_of(error, strlen(error));
  } else if (value != NULL) {
    read->answer.value = (uintptr_t)copy_of(value, value_length);
    read->answer.length = value_length;
    if (read->answer.value == 0) read->answer.failed = 1;
  }
  *read->reader->end = read;
  read->reader->end = &read->next;
}

char* cambium_go_reader_create(cambium_t* db, size_t depth, uint64_t bytes_max, unsigned char use_io_uring,
                               cambium_go_reader_t** reader) {
  char* error = NULL;
  cambium_asyncreader_t* const rep = cambium_asyncreader_create(db, depth, bytes_max, use_io_uring, &error);
  if (error != NULL) return error;
  *reader = malloc(sizeof **reader);
  if (*reader == NULL) {
    cambium_asyncreader_destroy(rep);
    return NULL;
  }
  (*reader)->rep = rep;
  (*reader)->first = NULL;
  (*reader)->end = &(*reader)->first;
  return NULL;
}

void cambium_go_reader_stop(cambium_go_reader_t* reader) {
  cambium_asyncreader_destroy(reader->rep);
  reader->rep = NULL;
}

void cambium_go_reader_free(cambium_go_reader_t* reader) { free(reader); }

int cambium_go_reader_get(cambium_go_reader_t* reader, const cambium_readoptions_t* options,
                          cambium_column_family_handle_t* family, const char* key, size_t key_length, uint64_t id,
                          char** error) {
  read_t* const read = calloc(1, sizeof *read);
  *error = NULL;
  if (read == NULL) return cambium_go_read_failed;
  read->reader = reader;
  read->answer.id = id;
  if (cambium_asyncreader_get_cf(reader->rep, options, family, key, key_length, end_read, read, error)) {
    return cambium_go_read_begun;
  }
  free(read);
  return *error == NULL ? cambium_go_read_no_room : cambium_go_read_failed;
}

size_t cambium_go_reader_poll(cambium_go_reader_t* reader, size_t least, uint64_t timeout_micros,
                              cambium_go_answer_t* answers, size_t max) {
  size_t count = 0;
  if (reader->rep != NULL && reader->first == NULL) cambium_asyncreader_poll(reader->rep, least, timeout_micros);
  while (count < max && reader->first != NULL) {
    read_t* const read = reader->first;
    reader->first = read->next;
    if (reader->first == NULL) reader->end = &reader->first;
    answers[count++] = read->answer;
    free(read);
  }
  return count;
}
