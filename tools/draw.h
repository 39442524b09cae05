// Figures as text: JSON values in lines, and tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cambium::tool {

// The content of the JSON for people: an object of scalars on one line, others indented. Ends with a line end.
[[nodiscard]] std::string DrawJsonAsText(const nlohmann::ordered_json& json, int indent = 0);

// Rows of equal length, the first one with the titles; columns after the first are right-aligned. Lines begin with two
// spaces.
[[nodiscard]] std::string DrawTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace cambium::tool
