#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "cambium/random.h"

namespace cambium {
namespace {

class KernelRandom final : public RandomSource {
 public:
  void Fill(char* out, std::size_t n) override {
    while (n > 0) {
      const ssize_t got = getrandom(out, n, 0);
      if (got < 0) {
        if (errno == EINTR) continue;
        // Without randomness identifiers could repeat, and one file's bytes would validate as another's. Nothing safe
        // is left to do.
        std::perror("cambium: getrandom");
        std::abort();
      }
      out += got;
      n -= static_cast<std::size_t>(got);
    }
  }
};

}  // namespace

std::shared_ptr<RandomSource> RandomSource::Default() {
  static const auto* const source = new std::shared_ptr<RandomSource>(std::make_shared<KernelRandom>());
  return *source;
}

}  // namespace cambium
