#include "transactions/isolation/dependency_graph.h"

#include <algorithm>
#include <tuple>

namespace cambium::testing::isolation {
namespace {

class GraphMaker {
 public:
  GraphMaker(const History& history, const Accesses& accesses)
      : history_(history), accesses_(accesses), graph_(2 * history.transactions.size()) {}

  Graph Make() {
    for (std::uint32_t tx = 0; tx < history_.transactions.size(); ++tx) {
      if (accesses_.parts[tx] == Part::kAll) Add(SnapshotOf(tx), {CommitOf(tx), Dependency::kInside, nullptr});
    }
    for (const auto& [key, its] : accesses_.keys) AddKey(key, its);
    AddRealTime();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] static std::uint32_t CommitOf(std::uint32_t tx) { return 2 * tx + 1; }
  [[nodiscard]] std::uint32_t SnapshotOf(std::uint32_t tx) const {
    const bool is_one_moment =
        history_.transactions[tx].level == Level::kSerializable && accesses_.parts[tx] == Part::kAll;
    return is_one_moment ? CommitOf(tx) : 2 * tx;
  }
  void Add(std::uint32_t from, Edge edge) {
    if (from != edge.to) graph_[from].push_back(edge);
  }

  void AddKey(const std::string& key, const KeyAccesses& its) {
    for (const auto& [version, readers] : its.readers) {
      const auto writer = its.writers.find(version);
      if (writer == its.writers.end()) continue;
      for (const std::uint32_t reader : readers) {
        if (reader != writer->second) Add(CommitOf(writer->second), {SnapshotOf(reader), Dependency::kWr, &key});
      }
    }
    for (const auto& [before, after] : its.order) {
      const auto later = its.writers.find(after);
      if (later == its.writers.end()) continue;
      const auto earlier = its.writers.find(before);
      if (earlier != its.writers.end() && earlier->second != later->second) {
        Add(CommitOf(earlier->second), {SnapshotOf(later->second), Dependency::kWw, &key});
      }
      const auto readers = its.readers.find(before);
      if (readers == its.readers.end()) continue;
      for (const std::uint32_t reader : readers->second) {
        if (reader != later->second) Add(SnapshotOf(reader), {CommitOf(later->second), Dependency::kRw, &key});
      }
    }
  }

  // Adds edges from the calls that have ended to each call that begins. A call that another one has followed is left
  // out, because the edges lead there through the other one.
  void AddRealTime() {
    struct Moment {
      Time time;
      bool is_end;
      std::uint32_t node;
      [[nodiscard]] auto Order() const { return std::tuple(time, is_end, node); }
    };
    std::vector<Moment> moments;
    std::vector<std::pair<Time, Time>> calls(graph_.size(), {0, kNever});
    const auto add = [&](std::uint32_t node, Time call, Time returned) {
      calls[node] = {call, returned};
      moments.push_back({call, false, node});
      if (returned != kNever) moments.push_back({returned, true, node});
    };
    for (std::uint32_t tx = 0; tx < history_.transactions.size(); ++tx) {
      const TxRecord& record = history_.transactions[tx];
      const Part part = accesses_.parts[tx];
      if (part == Part::kAll) add(CommitOf(tx), record.commit_call, record.commit_return);
      const bool has_snapshot = part != Part::kNothing && SnapshotOf(tx) != CommitOf(tx);
      if (has_snapshot) add(SnapshotOf(tx), record.begin_call, record.begin_return);
    }
    std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.Order() < b.Order(); });
    std::vector<std::uint32_t> ended;
    for (const Moment& moment : moments) {
      if (!moment.is_end) {
        for (const std::uint32_t from : ended) Add(from, {moment.node, Dependency::kRealTime, nullptr});
        continue;
      }
      const Time begin = calls[moment.node].first;
      std::erase_if(ended, [&](std::uint32_t node) { return calls[node].second < begin; });
      ended.push_back(moment.node);
    }
  }

  const History& history_;
  const Accesses& accesses_;
  Graph graph_;
};

}  // namespace

Graph MakeGraph(const History& history, const Accesses& accesses) { return GraphMaker(history, accesses).Make(); }

}  // namespace cambium::testing::isolation
