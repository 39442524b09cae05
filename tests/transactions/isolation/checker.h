// The checker: whether transactions had the isolation that they were promised, and whether a database that was opened
// again has what it must have.
//
// It works in the way of Elle (Kingsbury and Alvaro, VLDB 2020): it infers from what transactions have read which of
// them must be before which, and looks for cycles.
#pragma once

#include <string>

#include "transactions/isolation/history.h"

namespace cambium::testing::isolation {

// The first anomaly, with the transactions that show it, or "".
[[nodiscard]] std::string FindAnomaly(const History& history);

// How a life has ended.
struct LifeEnd {
  bool lost_power = false;  // otherwise the process was killed, or has closed the database
  Time at = kNever;         // what calls have written that returned later may be missing; kNever: none
  bool is_copy = false;     // the life has not ended: this is a copy of the database, begun at `at`
};

// Compares what the next Open has found with the transactions of the life. Each transaction is there as a whole or not
// at all, as its receipt says; all that was acknowledged is there (after a loss of power: all that was synced); what is
// there is a prefix of the order of commits; and what the next life has found is what they have written. Also calls
// FindAnomaly for what has survived. Returns what is wrong, or "".
[[nodiscard]] std::string CheckEnd(const History& history, const LifeEnd& end, const State& found);

// FindAnomaly for what was read in the life, then CheckEnd.
[[nodiscard]] std::string CheckLife(const History& history, const LifeEnd& end, const State& found);

}  // namespace cambium::testing::isolation
