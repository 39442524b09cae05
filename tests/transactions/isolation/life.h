// Life: what happens to a database between an Open and its end: eight clients, and meanwhile flushes, compactions and
// syncs of the log.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "transactions/isolation/checker.h"
#include "transactions/isolation/client.h"
#include "transactions/isolation/history.h"

namespace cambium::testing::isolation {

inline constexpr std::uint32_t kClients = 8;

// Runs the clients until each has made its share of `transactions`, or the life ends. `journal_of` gives each of
// kClients + 1 writers of lines its journal; the last one notes the syncs of the log. Transactions that Open has found
// prepared are given to the clients. Returns what calls have returned that must not be, or "".
std::string RunClients(LifeContext* life, std::uint64_t transactions, std::uint64_t seed,
                       const std::function<Client::Journal(std::uint32_t)>& journal_of, Figures* figures);

// What is known of a database through all its lives.
class Biography {
 public:
  // A life begins with these contents.
  void Begin(State found);
  // The history of the life: what its clients have written down, and the transactions that were prepared before.
  // Returns "", or the line that is malformed.
  std::string Read(const std::vector<std::string>& journals, History* history) const;
  // Checks the life, after which the database has these contents, and goes on to the next one.
  std::string End(const History& history, const LifeEnd& end, State found);
  [[nodiscard]] const State& base() const { return base_; }

 private:
  State base_;
  std::map<std::uint64_t, TxRecord> prepared_;  // by id
};

}  // namespace cambium::testing::isolation
