// Table: results as rows and columns of text, and the format of their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/result.h"
#include "results/rounds.h"

namespace cambium::bench {

inline constexpr std::size_t kFirstColumn = 24;

// Returns 1234567 as "1,234,567"; small numbers with three significant digits.
std::string Number(double value);
std::string PadLeft(const std::string& text, std::size_t width);
std::string PadRight(const std::string& text, std::size_t width);

// Returns median and spread: "123,456 +-2%".
std::string Speed(const Rounds& rounds);
std::string Plain(const Rounds& rounds);  // the median

// A Table has the rounds of every pair of engine and benchmark.
class Table {
 public:
  using Metric = std::function<std::optional<double>(const Result&)>;
  using Format = std::function<std::string(const Rounds& rounds)>;
  // A part of a sum.
  struct Part {
    std::string name;
    Metric metric;
  };

  explicit Table(const std::vector<Result>& results);

  // Leaves out a row without any value, and returns "" if no row is left.
  [[nodiscard]] std::string Draw(const std::string& title, const Metric& metric, const Format& format) const;
  // As Draw(sum), with rows for the parts below each row. A part is left out if every engine's figure looks like 0.
  [[nodiscard]] std::string DrawParts(const std::string& title, const Metric& sum, const std::vector<Part>& parts,
                                      const Format& format) const;
  // Draws the ratios of cambium (or the first engine, if cambium did not run) to each other engine: 2 means twice as
  // good. If rounds do not agree, the ratio has a question mark, and a line below explains it.
  [[nodiscard]] std::string DrawRatios(const std::string& title, Better better, const Metric& metric) const;

 private:
  [[nodiscard]] std::vector<std::string> Bases() const;
  [[nodiscard]] std::string DrawRatiosOf(const std::string& base, const std::string& title, Better better,
                                         const Metric& metric) const;
  // Returns "" if no engine has a value.
  [[nodiscard]] std::string Row(std::uint64_t step, const std::string& name, const Metric& metric,
                                const Format& format) const;
  [[nodiscard]] std::string Framed(const std::string& title, const std::string& rows) const;
  [[nodiscard]] Rounds RoundsOf(std::uint64_t step, const std::string& engine, const Metric& metric) const;

  std::map<std::uint64_t, std::string> steps_;
  std::vector<std::string> engines_;
  bool has_both_indexes_ = false;
  std::map<std::pair<std::uint64_t, std::string>, std::vector<const Result*>> cells_;
};

}  // namespace cambium::bench
