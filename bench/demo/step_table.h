// The steps of the demo: told as they end, and once more in a table, which has a column for each index.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cambium/status.h"

namespace cambium::demo {

// What a step did, whether it went well or not.
struct StepReport {
  std::string what;
  std::uint64_t bytes = 0;
  Status status = {};  // a check that failed is Corruption
};

class StepTable {
 public:
  // Runs `body`, which returns a StepReport, measures it and prints its row. Returns whether it went well.
  template <typename Body>
  bool Run(const std::string& name, Body body) {
    Announce(name);
    const auto begin = std::chrono::steady_clock::now();
    StepReport report = body();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return Add(name, std::move(report), seconds.count());
  }

  [[nodiscard]] bool ok() const { return ok_; }

  // The steps of several tables side by side, under their names: those of the first one, as far as each came.
  struct Column {
    std::string name;
    const StepTable* table;
  };
  [[nodiscard]] static std::string Draw(const std::vector<Column>& columns);

 private:
  static void Announce(const std::string& name);
  bool Add(const std::string& name, StepReport report, double seconds);

  struct Row {
    std::string name;
    StepReport report;
    double seconds;
  };
  std::vector<Row> rows_;
  bool ok_ = true;
};

}  // namespace cambium::demo
