#include "html/csv.h"

#include <map>

#include "results/rounds.h"

namespace cambium::bench {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::map<std::string, std::string>;

void AddFields(const Json& object, const std::string& prefix, Row* row, std::vector<std::string>* columns) {
  for (const auto& [key, value] : object.items()) {
    const std::string name = prefix + key;
    if (value.is_object()) {
      AddFields(value, name + ".", row, columns);
    } else if (!value.is_array() && !value.is_null()) {
      AddOnce(columns, name);
      (*row)[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
}

}  // namespace

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string ToCsv(const std::vector<ReportRun>& runs) {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (const ReportRun& run : runs) {
    for (const Result& result : run.results) AddFields(ToJson(result, run), "", &rows.emplace_back(), &columns);
  }
  std::string csv;
  for (std::size_t i = 0; i < columns.size(); ++i) csv += (i == 0 ? "" : ",") + CsvCell(columns[i]);
  csv += "\r\n";
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto cell = row.find(columns[i]);
      if (i > 0) csv += ",";
      if (cell != row.end()) csv += CsvCell(cell->second);
    }
    csv += "\r\n";
  }
  return csv;
}

}  // namespace cambium::bench
