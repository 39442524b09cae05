// Table: results as rows and columns of text, and how numbers look in them.
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

// 1234567 as "1,234,567"; three digits that count where it is small.
std::string Number(double value);
std::string PadLeft(const std::string& text, std::size_t width);
std::string PadRight(const std::string& text, std::size_t width);

// "123,456 +-2%": median and spread.
std::string Speed(const Rounds& rounds);
std::string Plain(const Rounds& rounds);  // the median

// The rounds of every pair of engine and benchmark.
class Table {
 public:
  using Metric = std::function<std::optional<double>(const Result&)>;
  using Format = std::function<std::string(const Rounds& rounds)>;
  // A sum, and what it consists of.
  struct Part {
    std::string name;
    Metric metric;
  };

  explicit Table(const std::vector<Result>& results);

  // A row is left out if no engine has a value in it, and the table if no row is left.
  [[nodiscard]] std::string Draw(const std::string& title, const Metric& metric, const Format& format) const;
  // Below each row of the sum, those parts of which any engine has more than looks like nothing.
  [[nodiscard]] std::string DrawParts(const std::string& title, const Metric& sum, const std::vector<Part>& parts,
                                      const Format& format) const;
  // How many times as good as each other engine those are that stand for this project, or the first one. Where the
  // rounds do not agree there is a question mark, and a line below that says what it means.
  [[nodiscard]] std::string DrawRatios(const std::string& title, Better better, const Metric& metric) const;

 private:
  [[nodiscard]] std::vector<std::string> Bases() const;
  [[nodiscard]] std::string DrawRatiosOf(const std::string& base, const std::string& title, Better better,
                                         const Metric& metric) const;
  // Empty if no engine has a value.
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
