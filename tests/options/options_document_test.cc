// docs/OPTIONS.md gives a default and a range for each option of DBOptions and ColumnFamilyOptions. Each default is
// compared with the code's; the ends of each range are legal, and values beyond them are not.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cambium/convenience.h"

namespace cambium::testing {
namespace {

struct Row {
  std::string name;
  std::string standard;  // the default, as written
  std::string legal;
};

std::string Trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" `");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" `") - begin + 1);
}

// The rows of the table below the heading "### `section`".
std::vector<Row> RowsOf(const std::string& section) {
  std::ifstream document(CAMBIUM_SOURCE_DIR "/docs/OPTIONS.md");
  std::vector<Row> rows;
  bool is_inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("### ")) is_inside = line == "### " + section;
    if (!is_inside || !line.starts_with("| `")) continue;
    std::istringstream cells(line.substr(1));
    Row row;
    std::getline(cells, row.name, '|');
    std::getline(cells, row.standard, '|');
    std::getline(cells, row.legal, '|');
    rows.push_back({Trimmed(row.name), Trimmed(row.standard), Trimmed(row.legal)});
  }
  return rows;
}

// Replaces "64 KiB" by "65536", "3,600,000,000" by "3600000000", and "2^30" by its value.
std::string WithPlainNumbers(std::string text) {
  text = std::regex_replace(text, std::regex("([0-9]),(?=[0-9]{3})"), "$1");
  text = std::regex_replace(text, std::regex("2\\^30"), "1073741824");
  static const std::map<std::string, int> kUnits = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"PiB", 50}};
  const std::regex sized("([0-9]+) ([KMGTP]iB)");
  for (std::smatch found; std::regex_search(text, found, sized);) {
    const std::uint64_t bytes = std::stoull(found[1]) << kUnits.at(found[2]);
    text = found.prefix().str() + std::to_string(bytes) + found.suffix().str();
  }
  return text;
}

// Name to value, of "a=1;b=2;".
std::map<std::string, std::string> ValuesOf(const std::string& text) {
  std::map<std::string, std::string> values;
  std::istringstream pairs(text);
  for (std::string pair; std::getline(pairs, pair, ';');) {
    const std::size_t equals = pair.find('=');
    if (equals != std::string::npos) values[Trimmed(pair.substr(0, equals))] = Trimmed(pair.substr(equals + 1));
  }
  return values;
}

// Calls `check` with each row of both tables that has a text form, and its default in the code.
template <typename Check>
void ForEachOption(Check check) {
  std::string text;
  ASSERT_TRUE(GetStringFromDBOptions(&text, DBOptions()).ok());
  std::map<std::string, std::string> values = ValuesOf(text);
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(&text, ColumnFamilyOptions()).ok());
  values.merge(ValuesOf(text));
  std::size_t count = 0;
  for (const std::string section : {"DBOptions", "ColumnFamilyOptions"}) {
    for (const Row& row : RowsOf(section)) {
      if (!values.contains(row.name)) continue;
      ++count;
      check(row, values.at(row.name));
    }
  }
  EXPECT_EQ(count, values.size()) << "options that the document does not have, or has in another form";
}

TEST(OptionsDocumentTest, DocumentedDefaultsMatchTheCode) {
  ForEachOption([](const Row& row, const std::string& value) {
    std::string documented = WithPlainNumbers(row.standard);
    documented = documented.substr(0, documented.find(' '));  // "0 = 1073741824", "4096 bytes"
    if (row.name == "comparator") documented = "cambium.BytewiseComparator";
    const bool is_number = value.find_first_not_of("0123456789.-") == std::string::npos;
    if (is_number) {
      EXPECT_EQ(std::strtod(documented.c_str(), nullptr), std::strtod(value.c_str(), nullptr)) << row.name;
    } else {
      EXPECT_EQ(documented, value) << row.name;
    }
  });
}

// Sets other options so that they allow the whole range of the tested option.
Status Set(const std::string& name, double value) {
  Options base;
  if (name != "level0_slowdown_writes_trigger") base.level0_slowdown_writes_trigger = 10'000;
  base.level0_stop_writes_trigger = 10'000;
  char text[64];
  std::snprintf(text, sizeof(text), "%s=%.0f", name.c_str(), value);
  Options out;
  return GetOptionsFromString(base, text, &out);
}

TEST(OptionsDocumentTest, DocumentedLimitsAreEnforced) {
  int ranges = 0;
  ForEachOption([&ranges](const Row& row, const std::string& value) {
    if (row.name == "comparator") return;  // "a name of 1 to 255 bytes"
    const std::string legal = WithPlainNumbers(row.legal);
    std::smatch found;
    if (!std::regex_search(legal, found, std::regex("(-?[0-9]+|`?[a-z_0-9]+`?)( \\([a-z ]*\\))? to ([0-9]+)"))) {
      const bool is_number = value.find_first_not_of("0123456789") == std::string::npos;
      EXPECT_TRUE(!is_number || legal == "any" || legal.starts_with("power of two")) << row.name << ": " << legal;
      return;
    }
    ++ranges;
    const bool has_zero = legal.starts_with("0") && legal.find(", or ") != std::string::npos;
    if (has_zero) {
      EXPECT_TRUE(Set(row.name, 0).ok()) << row.name;
    }
    const double most = std::strtod(found[3].str().c_str(), nullptr);
    EXPECT_TRUE(Set(row.name, most).ok()) << row.name << ": " << legal << ": " << Set(row.name, most).ToString();
    EXPECT_TRUE(Set(row.name, most + 1).IsInvalidArgument()) << row.name << ": " << legal;
    const std::string from = found[1];
    if (from.find_first_not_of("-0123456789") != std::string::npos) return;  // the name of another option
    const double least = std::strtod(from.c_str(), nullptr);
    EXPECT_TRUE(Set(row.name, least).ok()) << row.name << ": " << legal << ": " << Set(row.name, least).ToString();
    if (least == 1 && has_zero) return;  // nothing is between
    EXPECT_TRUE(Set(row.name, least - 1).IsInvalidArgument()) << row.name << ": " << legal;
  });
  EXPECT_GE(ranges, 25);
}

}  // namespace
}  // namespace cambium::testing
