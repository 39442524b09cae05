// Includes c.h in C++ together with the C++ headers: both describe one library.
#include "cambium/c.h"

#include <string>

#include "cambium/db.h"
#include "check.h"

int main() {
  cambium_options_t* const options = cambium_options_create();
  CHECK(cambium_options_get_write_buffer_size(options) == cambium::Options().write_buffer_size);
  cambium_options_destroy(options);
  return 0;
}
