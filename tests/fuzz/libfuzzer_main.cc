// The fuzz targets as one libFuzzer program. The environment chooses the target, because libFuzzer starts the program
// again with arguments of its own:
//
//   CAMBIUM_FUZZ_TARGET=manifest  cambium_fuzz CORPUS... [libFuzzer's options]
//   CAMBIUM_FUZZ_TARGET=manifest CAMBIUM_FUZZ_SEEDS=DIRECTORY  cambium_fuzz      writes the seeds there, and exits
//
// tools/fuzz.sh does both.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "fuzz/target.h"
#include "testing/mutant_scope.h"
#include "util/prng.h"
#include "util/sanitizer.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

// Regression: clang's AddressSanitizer was not recognised, so the ends of page frames were not checked.
static_assert(cambium::kUnderAddressSanitizer ==
              (std::string_view(CAMBIUM_FUZZ_SANITIZERS).find("address") != std::string_view::npos));

using cambium::fuzz::Target;

const Target* target = nullptr;

void WriteSeeds(const char* directory) {
  std::size_t number = 0;
  for (const std::string& seed : cambium::fuzz::SeedsOf(*target, CAMBIUM_GOLDEN_DIRECTORY "/v1")) {
    std::ofstream out(std::string(directory) + "/seed" + std::to_string(number++), std::ios::binary);
    out << seed;
    if (!out.flush()) {
      std::fprintf(stderr, "cannot write to %s\n", directory);
      std::exit(2);
    }
  }
}

// Mutates one file of an archive, or removes it, or gives it the contents of another one.
std::string MutateArchive(const std::string& archive, std::size_t max_size, unsigned seed) {
  cambium::testing::GoldenFiles files = cambium::testing::UnpackGolden(archive);
  if (files.empty()) return archive;
  cambium::Prng prng(seed);
  const auto any = [&] { return std::next(files.begin(), static_cast<std::ptrdiff_t>(prng.Uniform(files.size()))); };
  const auto chosen = any();
  switch (prng.Uniform(20)) {
    case 0:
      files.erase(chosen);
      break;
    case 1:
      chosen->second = any()->second;
      break;
    default: {
      std::string& bytes = chosen->second;
      const std::size_t size = bytes.size();
      bytes.resize(size + 64);
      bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, bytes.size()));
    }
  }
  std::string packed = cambium::testing::PackGolden(files);
  return packed.size() <= max_size ? packed : archive;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* const name = std::getenv("CAMBIUM_FUZZ_TARGET");
  target = name == nullptr ? nullptr : cambium::fuzz::FindTarget(name);
  if (target == nullptr) {
    std::fprintf(stderr, "CAMBIUM_FUZZ_TARGET must be one of these:");
    for (const Target* const each : cambium::fuzz::Targets()) std::fprintf(stderr, " %s", each->name);
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  if (const char* const directory = std::getenv("CAMBIUM_FUZZ_SEEDS"); directory != nullptr) {
    WriteSeeds(directory);
    std::exit(0);
  }
  static const cambium::testing::MutantScope scope(cambium::Mutant::kEveryChecksumMatches);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    target->run({reinterpret_cast<const char*>(data), size});
  } catch (const cambium::fuzz::BrokenPromise& broken) {
    std::fprintf(stderr, "BROKEN PROMISE: %s\n", broken.what());
    std::abort();
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (!target->is_archive) return LLVMFuzzerMutate(data, size, max_size);
  const std::string mutated = MutateArchive({reinterpret_cast<const char*>(data), size}, max_size, seed);
  std::copy(mutated.begin(), mutated.end(), data);
  return mutated.size();
}
