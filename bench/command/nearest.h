// Nearest: which name somebody meant who mistyped it.
#pragma once

#include <string>
#include <vector>

namespace cambium::bench {

// The one of `names` with the fewest letters to change, add, leave out or swap; "" if none is near.
std::string Nearest(const std::string& word, const std::vector<std::string>& names);

// "; did you mean NAME?", or ";": what stands between a complaint and where to look.
std::string Suggestion(const std::string& word, const std::vector<std::string>& names);

}  // namespace cambium::bench
