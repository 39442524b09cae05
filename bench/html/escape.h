// Escaping: text that is not ours must not become markup or a path.
#pragma once

#include <string>
#include <string_view>

namespace cambium::bench {

// Escapes text and attribute values for HTML and SVG. Bytes that are not UTF-8, or that XML does not allow, become
// U+FFFD.
std::string Escape(std::string_view text);

// Returns a file name or id: at most 80 letters, digits and "-".
std::string ToSlug(std::string_view text);

}  // namespace cambium::bench
