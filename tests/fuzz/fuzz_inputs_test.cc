// Runs every fuzz target with the seeds from the golden databases, with the inputs that have found a bug, and with
// random changes of both, so that targets and stored inputs are tested in every build, with any compiler.
//
// To repeat a failure of a random change, set the CAMBIUM_SEED that it prints. An input that libFuzzer finds goes into
// tests/fuzz/regressions/TARGET, named after what was wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "fuzz/target.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::fuzz {
namespace {

const std::string kGolden = CAMBIUM_GOLDEN_DIRECTORY "/v1";
const std::string kRegressions = CAMBIUM_FUZZ_DIRECTORY "/regressions";

// Returns "" or what the input has shown.
std::string Outcome(const Target& target, const std::string& input) {
  const testing::MutantScope no_checksums(Mutant::kEveryChecksumMatches);
  // A copy of its exact size, so that AddressSanitizer sees a read past the end.
  const std::vector<char> exact(input.begin(), input.end());
  try {
    target.run({exact.data(), exact.size()});
  } catch (const BrokenPromise& broken) {
    return broken.what();
  } catch (const std::bad_alloc&) {
    return "memory was asked for that the input cannot need";
  }
  return "";
}

class FuzzInputsTest : public ::testing::TestWithParam<const Target*> {};

TEST_P(FuzzInputsTest, SeedsKeepEveryPromise) {
  std::size_t number = 0;
  for (const std::string& seed : SeedsOf(*GetParam(), kGolden))
    EXPECT_EQ(Outcome(*GetParam(), seed), "") << "seed " << number++;
}

TEST_P(FuzzInputsTest, InputsThatFoundABugKeepEveryPromise) {
  const std::string directory = kRegressions + "/" + GetParam()->name;
  if (!std::filesystem::exists(directory)) return;  // this target has found none
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(Outcome(*GetParam(), input), "") << file.path();
  }
}

// Changes a few bytes: flips a bit, sets an extreme value, copies, inserts or removes a stretch.
void Change(Prng* prng, std::string* bytes) {
  if (bytes->empty()) return;
  const std::size_t at = prng->Uniform(bytes->size());
  const std::size_t n = prng->Uniform(std::min<std::size_t>(bytes->size() - at, 16) + 1);
  switch (prng->Uniform(5)) {
    case 0:
      (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << prng->Uniform(8)));
      break;
    case 1:
      bytes->replace(at, n, n, prng->OneIn(2) ? '\xff' : '\0');
      break;
    case 2:
      bytes->replace(at, n, bytes->substr(prng->Uniform(bytes->size()), n));
      break;
    case 3:
      bytes->insert(at, prng->Bytes(n));
      break;
    default:
      bytes->erase(at, n);
      break;
  }
}

std::string Changed(Prng* prng, const Target& target, std::string input) {
  GoldenFiles files = target.is_archive ? testing::UnpackGolden(input) : GoldenFiles{};
  for (std::size_t changes = 1 + prng->Uniform(3); changes > 0; --changes) {
    if (files.empty()) {
      Change(prng, &input);
    } else {
      Change(prng, &std::next(files.begin(), static_cast<std::ptrdiff_t>(prng->Uniform(files.size())))->second);
    }
  }
  return files.empty() ? input : testing::PackGolden(files);
}

TEST_P(FuzzInputsTest, RandomChangesKeepEveryPromise) {
  const std::vector<std::string> seeds = SeedsOf(*GetParam(), kGolden);
  const std::uint64_t first = testing::SeedFromEnvironment(1);
  const std::uint64_t rounds = testing::ScaledCount(GetParam()->is_archive ? 60 : 600);
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Prng prng(seed);
    const std::string input = Changed(&prng, *GetParam(), seeds[prng.Uniform(seeds.size())]);
    const std::string outcome = Outcome(*GetParam(), input);
    if (outcome.empty()) continue;
    const std::string path = ::testing::TempDir() + "fuzz_" + GetParam()->name + "_" + std::to_string(seed);
    std::ofstream(path, std::ios::binary) << input;
    FAIL() << outcome << "\nCAMBIUM_SEED=" << seed << ", the input is " << path;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FuzzInputsTest, ::testing::ValuesIn(Targets().begin(), Targets().end()),
                         [](const auto& each) { return std::string(each.param->name); });

}  // namespace
}  // namespace cambium::fuzz
