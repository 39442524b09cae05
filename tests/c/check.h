// Checks for the tests of the C interface, in C.
#ifndef CAMBIUM_TESTS_C_CHECK_H_
#define CAMBIUM_TESTS_C_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                        \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "%s:%d: check failed:%s\n", __FILE__, __LINE__, #condition);                   \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

// Expects no error.
#define CHECK_OK(error)                                                                         \
  do {                                                                                          \
    if ((error) != NULL) {                                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, (error));                              \
      exit(1);                                                                                  \
    }                                                                                           \
  } while (0)

// Expects an error that contains `text`, and frees it.
#define CHECK_ERROR(error, text)                                                                \
  do {                                                                                          \
    if ((error) == NULL || strstr((error), (text)) == NULL) {                                   \
      fprintf(stderr, "%s:%d: error is %s, expected ...%s...\n", __FILE__, __LINE__,            \
              (error) == NULL ? "none" : (error), (text));                                      \
      exit(1);                                                                                  \
    }                                                                                           \
    cambium_free(error);                                                                        \
    (error) = NULL;                                                                             \
  } while (0)

// Expects the bytes of the string; NULL is not an empty string.
#define CHECK_BYTES(bytes, length, string) \
  CHECK((bytes) != NULL && (length) == strlen(string) && memcmp((bytes), (string), (length)) == 0)

#endif /* CAMBIUM_TESTS_C_CHECK_H_ */
