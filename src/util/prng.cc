#include "util/prng.h"

namespace cambium {

std::string Prng::Bytes(std::size_t n) {
  std::string bytes(n, '\0');
  Prng copy = *this;  // in registers: the compiler must assume that a char that is written belongs to *this
  for (char& c : bytes) c = static_cast<char>(copy.Next() >> 56);
  *this = copy;
  return bytes;
}

}  // namespace cambium
