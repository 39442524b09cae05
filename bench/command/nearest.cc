#include "command/nearest.h"

#include <algorithm>
#include <cstddef>

namespace cambium::bench {
namespace {

// Damerau, "A technique for computer detection and correction of spelling errors", 1964, with swaps of neighbours only.
std::size_t Distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1);  // for the prefix of a that is two letters shorter
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string Nearest(const std::string& word, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& name : names) {
    std::size_t distance = Distance(word, name);
    // A part of a name is a good guess too, but not as good as one wrong letter.
    if (word.size() >= 4 && name.find(word) != std::string::npos) distance = std::min<std::size_t>(distance, 2);
    if (distance < fewest) {
      fewest = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string Suggestion(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = Nearest(word, names);
  return nearest.empty() ? ";" : "; did you mean " + nearest + "?";
}

}  // namespace cambium::bench
