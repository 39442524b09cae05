// Figures as text: JSON values in lines, and tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cambium::tool {

// For people, the same as the JSON says: an object of scalars on one line, others indented. Ends with an end of line.
[[nodiscard]] std::string DrawJsonAsText(const nlohmann::ordered_json& json, int indent = 0);

// Rows of the same length, the first one the titles; columns after the first one right-aligned. Lines begin with two
// spaces.
[[nodiscard]] std::string DrawTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace cambium::tool
