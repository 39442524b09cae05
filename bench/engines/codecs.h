// The complaint about an engine that lacks the codec of --compression_type. Without a complaint it would run
// uncompressed.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace cambium::bench {

// Returns "" if `name` has the codec ("none" is one), else "--compression_type=zstd is not in LevelDB, which has none,
// snappy".
inline std::string ComplainOfCodec(const std::string& asked, const std::string& name,
                                   const std::vector<std::string>& has) {
  if (std::find(has.begin(), has.end(), asked) != has.end()) return {};
  std::string text = "--compression_type=" + asked + " is not in " + name + ", which has ";
  for (const std::string& codec : has) text += (codec == has.front() ? "" : ", ") + codec;
  return text;
}

}  // namespace cambium::bench
