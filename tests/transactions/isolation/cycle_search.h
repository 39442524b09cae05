// FindSmallestCycle: the cycle of a dependency graph that says most clearly what went wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transactions/isolation/dependency_graph.h"

namespace cambium::testing::isolation {

// A cycle as its steps; the last one leads to the begin of the first one.
struct Step {
  std::uint32_t from = 0;
  Edge edge;
};
using Cycle = std::vector<Step>;

// Looks first for cycles with ww edges only, then also with wr, then with one rw, then with any rw, then with the order
// of calls too. Of the first kind that exists, returns a smallest one, where steps inside a transaction do not count.
// Empty if the graph has no cycle.
[[nodiscard]] Cycle FindSmallestCycle(const Graph& graph);

// "G-single", or another name of dependency_graph.h. `threads`: of each transaction.
[[nodiscard]] std::string NameOf(const Cycle& cycle, const std::vector<std::uint32_t>& threads);

}  // namespace cambium::testing::isolation
