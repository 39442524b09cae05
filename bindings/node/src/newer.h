// Functions that the library has got since the first release with this version of the interface. They are null with an
// earlier library, so that the addon works with it too.
#pragma once

#include <cambium/c.h>

#include <cstddef>
#include <string>

#include "napi.h"

extern "C" {
__attribute__((weak)) char* cambium_get_db_identity(cambium_t* db, std::size_t* id_length);
__attribute__((weak)) void cambium_verify_checksum(cambium_t* db, const cambium_readoptions_t* options, char** errptr);
}

namespace cambium_node {

// Throws unless the library has `function`.
template <typename Called>
void CheckHas(Called* function, const char* name) {
  if (function == nullptr) {
    throw Failure{std::string("Not implemented: the library that was loaded is too old: it has no ") + name};
  }
}

}  // namespace cambium_node
