// DependencyGraph: the moments of transactions, and which of them must be before which.
//
// With snapshot isolation a transaction takes effect at two moments: its snapshot, as of which it reads, and its
// commit. A serializable one takes effect at a single moment, its commit, because what it has read holds until then.
// What happened is explained if all these moments have an order in which
//
//   inside      the snapshot of a transaction is before its commit
//   ww          a version was committed before the snapshot of the transaction that wrote a later version
//   wr          a version was committed before the snapshot of a transaction that has read it
//   rw          the snapshot of a transaction that has read a version is before the commit of a later version
//   real time   the end of one call is before the begin of another one. A snapshot is taken in the call that begins the
//               transaction, a commit happens in the call of Commit
//
// So the history has the promised isolation, as far as its reads show, exactly if the graph of these rules has no
// cycle. A cycle names its anomaly: only ww G0; ww and wr G1c; one rw G-single; more G2-item, or G-nonadjacent if no
// two rw follow each other; "in real time" if only the order of calls closes it, "in a session" if those are of one
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transactions/isolation/accesses.h"
#include "transactions/isolation/history.h"

namespace cambium::testing::isolation {

enum class Dependency : unsigned char { kInside, kWw, kWr, kRw, kRealTime };
inline constexpr unsigned MaskOf(Dependency kind) { return 1u << static_cast<unsigned>(kind); }

struct Edge {
  std::uint32_t to = 0;
  Dependency kind = Dependency::kInside;
  const std::string* key = nullptr;  // of ww, wr and rw; valid as long as the accesses
};

// By node. The snapshot of transaction i is node 2 i, its commit node 2 i + 1.
using Graph = std::vector<std::vector<Edge>>;

[[nodiscard]] inline std::uint32_t TransactionOf(std::uint32_t node) { return node / 2; }
[[nodiscard]] Graph MakeGraph(const History& history, const Accesses& accesses);

}  // namespace cambium::testing::isolation
