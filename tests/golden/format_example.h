// The worked example of docs/format/example.md: one put, flushed, in a simulated file system whose clock stands still
// and whose random numbers come from a seed, so every run writes the same bytes.
//
// Each file is shown as lines "offset  bytes  field". The library's decoders say where fields begin and what they mean;
// what they return is encoded again and compared with the file, so a field can be neither missing nor misnamed.
#pragma once

#include <map>
#include <string>

namespace cambium::testing {

// The generated blocks of the document by name: "directory", and one for each binary file by its extension or, for the
// MANIFEST, by "MANIFEST".
[[nodiscard]] std::map<std::string, std::string> FormatExampleBlocks();

// `document` with the text of each block in place of what stands there now. A block of the document is a fence after the
// line "<!-- generated: NAME -->". Fails the test if blocks and names do not match one to one.
[[nodiscard]] std::string WithBlocks(const std::string& document, const std::map<std::string, std::string>& blocks);

}  // namespace cambium::testing
