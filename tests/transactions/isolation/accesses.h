// Accesses: which transactions have read and written which versions of which keys, and in which order the versions of a
// key were made. Only what follows with certainty is used:
//
//   list        the value itself shows the order of its appends
//   register    a transaction that has read a version and then written another one has made the later one, because no
//               level here allows others to write the key in between. The version of the base is before all others.
//               Versions that were written without a read, and never read by a writer, have no place in the order
//   deleted     a read that finds nothing has seen the only delete of the key if there is just one, and otherwise
//               proves nothing
//
// This also finds the anomalies that a single read or a pair of writes shows: a read of what was rolled back (G1a), of
// an intermediate version (G1b), or of what nobody wrote; two reads of one transaction that contradict each other or
// its own writes; two writes that were both made from one version (lost update); lists that contradict each other.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "transactions/isolation/history.h"

namespace cambium::testing::isolation {

// What of a transaction counts. kReads: it has no effect, but all its reads see one moment.
enum class Part : unsigned char { kNothing, kReads, kAll };

struct KeyAccesses {
  // Transactions are indexes into History::transactions. Versions of the base have no writer here.
  std::map<Version, std::uint32_t> writers;
  std::map<Version, std::vector<std::uint32_t>> readers;
  std::vector<std::pair<Version, Version>> order;  // the first one is before the second one
};

struct Accesses {
  std::vector<Part> parts;  // by transaction. One whose commit is unknown counts if another has read what it wrote
  std::map<std::string, KeyAccesses> keys;
  std::string anomaly;  // the first one found, or ""
};

[[nodiscard]] Accesses FindAccesses(const History& history);

}  // namespace cambium::testing::isolation
