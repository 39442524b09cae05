// What stands in a name must not become markup.
#pragma once

#include <string>
#include <string_view>

namespace cambium::bench {

// For text and for values of attributes of HTML and SVG. Bytes that are not UTF-8, or that XML does not allow, come out
// as U+FFFD.
std::string Escape(std::string_view text);

// For the name of a file or an id: letters, digits and "-", at most 80 of them.
std::string ToSlug(std::string_view text);

}  // namespace cambium::bench
