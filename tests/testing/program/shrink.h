// Shrink: removes operations, and then parts of batches, from a failing program as long as it keeps failing, so that
// the printed program is short.
#pragma once

#include <functional>
#include <string>

#include "testing/program/program.h"

namespace cambium::testing {

// `run` returns "" or what went wrong. Calls it up to `budget` times.
inline Program Shrink(Program program, const std::function<std::string(const Program&)>& run, int budget = 400) {
  for (std::size_t chunk = program.operations.size() / 2; chunk > 0 && budget > 0;) {
    bool removed = false;
    for (std::size_t begin = 0; begin < program.operations.size() && budget > 0;) {
      Program smaller = program;
      const auto first = smaller.operations.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto left = static_cast<std::size_t>(smaller.operations.end() - first);
      smaller.operations.erase(first, first + static_cast<std::ptrdiff_t>(std::min(chunk, left)));
      --budget;
      if (run(smaller).empty()) {
        begin += chunk;
      } else {
        program = std::move(smaller);
        removed = true;
      }
    }
    if (!removed) chunk /= 2;
  }
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    for (std::size_t j = program.operations[i].mutations.size(); j-- > 0 && budget > 0;) {
      if (program.operations[i].mutations.size() == 1) break;
      Program smaller = program;
      smaller.operations[i].mutations.erase(smaller.operations[i].mutations.begin() + static_cast<std::ptrdiff_t>(j));
      --budget;
      if (!run(smaller).empty()) program = std::move(smaller);
    }
  }
  return program;
}

}  // namespace cambium::testing
