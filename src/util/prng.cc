#include "util/prng.h"

namespace cambium {

std::string Prng::Bytes(std::size_t n) {
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>(Next() >> 56);
  return bytes;
}

}  // namespace cambium
