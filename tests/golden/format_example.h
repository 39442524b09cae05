// The worked example of docs/format/example.md: one put, flushed, in a simulated file system with a fixed clock and
// seeded random numbers, so every run writes the same bytes.
//
// A dump of a file has lines "offset  bytes  field". The library's decoders find and interpret the fields. Their
// results are encoded again and compared with the file, so no field can be missing or misnamed.
#pragma once

#include <map>
#include <string>

namespace cambium::testing {

// Returns the generated blocks of the document by name: "directory", "MANIFEST", and one for each other binary file by
// its extension.
[[nodiscard]] std::map<std::string, std::string> FormatExampleBlocks();

// Returns `document` with the text of its blocks replaced. A block of the document is a fence after the line
// "<!-- generated: NAME -->". Fails the test if blocks and names do not match one to one.
[[nodiscard]] std::string WithBlocks(const std::string& document, const std::map<std::string, std::string>& blocks);

}  // namespace cambium::testing
