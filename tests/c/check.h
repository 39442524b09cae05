/* What the tests of the C interface say when something is not so, in C. */
#ifndef CAMBIUM_TESTS_C_CHECK_H_
#define CAMBIUM_TESTS_C_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                   \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

/* No error. */
#define CHECK_OK(error)                                                                         \
  do {                                                                                          \
    if ((error) != NULL) {                                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (error));                              \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

/* An error that has `text` in it; it is freed. */
#define CHECK_ERROR(error, text)                                                                \
  do {                                                                                          \
    if ((error) == NULL || strstr((error), (text)) == NULL) {                                   \
      fprintf(stderr, "%s:%d: error is %s, and not: ...%s...\n", __FILE__, __LINE__,            \
              (error) == NULL ? "none" : (error), (text));                                      \
      exit(1);                                                                                  \
    }                                                                                           \
    cambium_free(error);                                                                        \
    (error) = NULL;                                                                             \
  } while (0)

/* Bytes are as the string; a NULL is not even the empty one. */
#define CHECK_BYTES(bytes, length, string) \
  CHECK((bytes) != NULL && (length) == strlen(string) && memcmp((bytes), (string), (length)) == 0)

#endif /* CAMBIUM_TESTS_C_CHECK_H_ */
