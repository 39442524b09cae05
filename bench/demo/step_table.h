// StepTable: runs the steps of the demo, prints each when it ends, and all in a table with a column for each index.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cambium/status.h"

namespace cambium::demo {

// The outcome of a step.
struct StepReport {
  std::string what;
  std::uint64_t bytes = 0;
  Status status = {};  // Corruption for a failed check
};

class StepTable {
 public:
  // Runs and measures `body`, which returns a StepReport, and prints its row. Returns whether it succeeded.
  template <typename Body>
  bool Run(const std::string& name, Body body) {
    Announce(name);
    const auto begin = std::chrono::steady_clock::now();
    StepReport report = body();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return Add(name, std::move(report), seconds.count());
  }

  [[nodiscard]] bool ok() const { return ok_; }

  // Returns the steps of several tables side by side, under their names. Rows are the steps of the first table.
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
