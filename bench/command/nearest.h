// Nearest: guesses which name was meant by a mistyped one.
#pragma once

#include <string>
#include <vector>

namespace cambium::bench {

// Returns the name with the fewest letters to change, add, remove or swap; "" if none is near.
std::string Nearest(const std::string& word, const std::vector<std::string>& names);

// Returns "; did you mean NAME?", or ";": the text between an error and a hint on where to look.
std::string Suggestion(const std::string& word, const std::vector<std::string>& names);

}  // namespace cambium::bench
