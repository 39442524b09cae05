#include "transactions/isolation/cycle_search.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace cambium::testing::isolation {
namespace {

constexpr unsigned kInsideMask = MaskOf(Dependency::kInside);
constexpr unsigned kWriteMask = kInsideMask | MaskOf(Dependency::kWw);
constexpr unsigned kReadMask = kWriteMask | MaskOf(Dependency::kWr);
constexpr unsigned kDataMask = kReadMask | MaskOf(Dependency::kRw);
constexpr unsigned kAllMask = kDataMask | MaskOf(Dependency::kRealTime);

bool Has(unsigned mask, const Edge& edge) { return (mask & MaskOf(edge.kind)) != 0; }

// The strongly connected components of the edges in `mask` (Tarjan's algorithm, without recursion). A cycle lies in one
// of them.
class Components {
 public:
  Components(const Graph& graph, unsigned mask)
      : graph_(graph), mask_(mask), numbers_(graph.size(), 0), index_(graph.size(), 0), low_(graph.size(), 0) {
    for (std::uint32_t node = 0; node < graph.size(); ++node) {
      if (index_[node] == 0) Visit(node);
    }
  }
  [[nodiscard]] bool HasCycle() const { return last_number_ != 0; }
  [[nodiscard]] bool IsInCycle(std::uint32_t node) const { return numbers_[node] != kAlone; }
  [[nodiscard]] bool AreTogether(std::uint32_t a, std::uint32_t b) const { return numbers_[a] == numbers_[b]; }

 private:
  static constexpr std::uint32_t kAlone = std::numeric_limits<std::uint32_t>::max();
  struct Frame {
    std::uint32_t node;
    std::size_t at;  // of the next edge
  };

  void Enter(std::uint32_t node) {
    index_[node] = low_[node] = ++last_index_;
    stack_.push_back(node);
    path_.push_back({node, 0});
  }
  void Visit(std::uint32_t root) {
    Enter(root);
    while (!path_.empty()) {
      const std::uint32_t node = path_.back().node;
      if (path_.back().at < graph_[node].size()) {
        const Edge& edge = graph_[node][path_.back().at++];
        if (!Has(mask_, edge)) continue;
        if (index_[edge.to] == 0) {
          Enter(edge.to);
        } else if (numbers_[edge.to] == 0) {
          low_[node] = std::min(low_[node], index_[edge.to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
      if (low_[node] == index_[node]) Close(node);
    }
  }
  void Close(std::uint32_t root) {
    const bool is_alone = stack_.back() == root;
    const std::uint32_t number = is_alone ? kAlone : ++last_number_;
    std::uint32_t node = 0;
    do {
      node = stack_.back();
      stack_.pop_back();
      numbers_[node] = number;
    } while (node != root);
  }

  const Graph& graph_;
  const unsigned mask_;
  std::vector<std::uint32_t> numbers_;  // of the component of each node; 0: not known yet
  std::vector<std::uint32_t> index_;    // in the order of visits; 0: not visited
  std::vector<std::uint32_t> low_;      // the smallest index that leads back into the path
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> path_;
  std::uint32_t last_index_ = 0;
  std::uint32_t last_number_ = 0;
};

// The shortest path from `from` to `to` along edges in `mask`, within their component; steps inside a transaction cost
// nothing. Empty if there is none that is shorter than *cost_max; otherwise *cost_max becomes its cost.
Cycle FindPath(const Graph& graph, const Components& components, unsigned mask, std::uint32_t from, std::uint32_t to,
               std::size_t* cost_max) {
  struct Reached {
    std::size_t cost = std::numeric_limits<std::size_t>::max();
    Step by;
  };
  std::vector<Reached> reached(graph.size());
  std::deque<std::uint32_t> next = {from};
  reached[from].cost = 0;
  while (!next.empty()) {
    const std::uint32_t node = next.front();
    next.pop_front();
    if (node == to) break;
    for (const Edge& edge : graph[node]) {
      if (!Has(mask, edge) || !components.AreTogether(edge.to, from)) continue;
      const bool is_free = edge.kind == Dependency::kInside;
      const std::size_t cost = reached[node].cost + (is_free ? 0 : 1);
      if (cost >= *cost_max || cost >= reached[edge.to].cost) continue;
      reached[edge.to] = {cost, {node, edge}};
      is_free ? next.push_front(edge.to) : next.push_back(edge.to);
    }
  }
  if (reached[to].cost >= *cost_max) return {};
  *cost_max = reached[to].cost;
  Cycle path;
  for (std::uint32_t node = to; node != from; node = reached[node].by.from) path.push_back(reached[node].by);
  std::reverse(path.begin(), path.end());
  return path;
}

// A smallest cycle that begins with an edge of `first`, and goes on along edges of `rest`.
Cycle FindCycle(const Graph& graph, unsigned first, unsigned rest) {
  const Components components(graph, first | rest);
  if (!components.HasCycle()) return {};
  Cycle best;
  std::size_t cost_max = std::numeric_limits<std::size_t>::max() - 1;
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    if (!components.IsInCycle(node)) continue;
    for (const Edge& edge : graph[node]) {
      if (!Has(first, edge) || !components.AreTogether(edge.to, node)) continue;
      const Cycle path = FindPath(graph, components, rest, edge.to, node, &cost_max);
      if (path.empty()) continue;
      best = {{node, edge}};
      best.insert(best.end(), path.begin(), path.end());
    }
  }
  return best;
}

}  // namespace

Cycle FindSmallestCycle(const Graph& graph) {
  if (!Components(graph, kAllMask).HasCycle()) return {};
  const unsigned rw = MaskOf(Dependency::kRw);
  const struct {
    unsigned first, rest;
  } kKinds[] = {{MaskOf(Dependency::kWw), kWriteMask},
                {MaskOf(Dependency::kWr), kReadMask},
                {rw, kReadMask},
                {rw, kDataMask},
                {kDataMask & ~kInsideMask, kReadMask | MaskOf(Dependency::kRealTime)},
                {kDataMask & ~kInsideMask, kAllMask}};
  for (const auto& kind : kKinds) {
    Cycle cycle = FindCycle(graph, kind.first, kind.rest);
    if (!cycle.empty()) return cycle;
  }
  return {};
}

std::string NameOf(const Cycle& cycle, const std::vector<std::uint32_t>& threads) {
  std::vector<Step> steps;
  for (const Step& step : cycle) {
    if (step.edge.kind != Dependency::kInside) steps.push_back(step);
  }
  std::size_t rw_count = 0;
  bool has_wr = false, has_time = false, is_session = true, is_adjacent = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Edge& edge = steps[i].edge;
    const bool is_rw = edge.kind == Dependency::kRw;
    rw_count += is_rw ? 1 : 0;
    has_wr = has_wr || edge.kind == Dependency::kWr;
    is_adjacent = is_adjacent || (is_rw && steps[(i + 1) % steps.size()].edge.kind == Dependency::kRw);
    if (edge.kind != Dependency::kRealTime) continue;
    has_time = true;
    is_session = is_session && threads[TransactionOf(steps[i].from)] == threads[TransactionOf(edge.to)];
  }
  std::string name = "G0, a cycle of writes";
  if (rw_count == 1) {
    name = "G-single, a cycle with one anti-dependency";
  } else if (rw_count > 1) {
    name = is_adjacent ? "G2-item, a cycle with anti-dependencies" : "G-nonadjacent, a cycle with anti-dependencies";
  } else if (has_wr) {
    name = "G1c, a cycle of writes and reads";
  }
  if (has_time) name += is_session ? ", in a session" : ", in real time";
  return name;
}

}  // namespace cambium::testing::isolation
