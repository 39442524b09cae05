// Presets and the limits of the stores of this build.
#include "presets/preset.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command/parse_flags.h"
#include "engines/registry.h"

namespace cambium::bench {
namespace {

ParsedFlags Parse(const std::string& preset, const std::string& scale) {
  std::string program = "cambium_bench";
  std::string preset_word = "--preset=" + preset;
  std::string scale_word = "--scale=" + scale;
  char* words[] = {program.data(), preset_word.data(), scale_word.data()};
  return ParseFlags(3, words);
}

// Regression: every scale of blobdb2021 above a sixteenth was refused, because buffers and files grew beyond the
// original's 1 GiB.
TEST(PresetTest, EveryStoreAcceptsEveryPresetUpToScaleOne) {
  for (const Preset& preset : Presets()) {
    for (const char* scale : {"1", "0.5", "0.01", "0.0001"}) {
      EXPECT_FALSE(Parse(preset.name, scale).exit_code.has_value()) << preset.name << " " << scale;
    }
  }
}

TEST(PresetTest, EngineAllIncludesRunsOfOneStore) {
  std::string words[] = {"cambium_bench", "--preset=blobdb2021", "--engine=all"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data()};
  const bool has_blobs = FindEngine("rocksdb_blob_nogc")->make != nullptr;
  EXPECT_EQ(ParseFlags(3, argv).runs.size(), has_blobs ? 12u : 6u);
}

TEST(PresetTest, ScaleOneHasThePublishedSizes) {
  const ParsedFlags parsed = Parse("blobdb2021", "1");
  ASSERT_EQ(parsed.runs.size(), 12u);
  const BenchFlags& smallest = parsed.runs.front();
  EXPECT_EQ(smallest.num, 1u << 30) << "1 TiB of 1 KiB";
  EXPECT_EQ(smallest.write_buffer_size, 1u << 30);
  EXPECT_EQ(smallest.blob_file_size, 1u << 30);
  EXPECT_EQ(smallest.cache_size, std::size_t{16} << 30);
  EXPECT_EQ(smallest.levels.max_bytes_for_level_base, std::uint64_t{8} << 30);
  EXPECT_EQ(smallest.levels.keys_target_file_size_base, 32u << 20) << "the keys of 32 buffers of values";
  EXPECT_EQ(parsed.runs[10].num, 1u << 20) << "1 TiB of 1 MiB";
}

}  // namespace
}  // namespace cambium::bench
