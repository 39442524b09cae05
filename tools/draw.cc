#include "draw.h"

#include <algorithm>

namespace cambium::tool {
namespace {

using Json = nlohmann::ordered_json;

bool IsFlat(const Json& json) {
  return std::all_of(json.begin(), json.end(), [](const Json& each) { return !each.is_structured(); });
}

std::string Scalar(const Json& json) {
  if (json.is_string()) return json.get<std::string>();
  if (json.is_boolean()) return json.get<bool>() ? "yes" : "no";
  if (json.is_null()) return "-";
  return json.dump();
}

// "name figure, name figure", or "figure figure" for an array.
std::string OneLine(const Json& json) {
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (!text.empty()) text += json.is_object() ? ", " : " ";
    if (json.is_object()) text += name + " ";
    text += Scalar(value);
  }
  return text;
}

}  // namespace

std::string DrawJsonAsText(const Json& json, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (!json.is_structured()) return margin + Scalar(json) + "\n";
  std::string text;
  for (const auto& [name, value] : json.items()) {
    const std::string title = json.is_object() ? name : "";
    if (!value.is_structured()) {
      text.append(margin).append(title).append(title.empty() ? "" : ": ").append(Scalar(value)).append("\n");
    } else if (value.empty()) {
      text.append(margin).append(title).append(title.empty() ? "none\n" : ": none\n");
    } else if (IsFlat(value)) {
      text.append(margin).append(title).append(title.empty() ? "" : ": ").append(OneLine(value)).append("\n");
    } else {
      text.append(margin)
          .append(title.empty() ? "-" : title + ":")
          .append("\n")
          .append(DrawJsonAsText(value, indent + 2));
    }
  }
  return text;
}

std::string DrawTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      line += i == 0 ? " " + row[i] + pad : "  " + pad + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace cambium::tool
