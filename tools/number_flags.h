// RejectOddNumbers: rejects numbers on the command line that the parser would misread.
#pragma once

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>

namespace cambium {

// Lets every option of the program and of its commands that takes a number without a sign reject "-1" and numbers that
// do not fit, and every option that takes a fraction reject "nan" and "inf". The parser itself turns "-1" into the
// largest number, and takes "nan" for a number in any range. Call it once all options are added.
inline void RejectOddNumbers(CLI::App* app) {
  const CLI::Validator whole(
      [](const std::string& text) -> std::string {
        const std::size_t at = text.find_first_not_of(" \t");
        if (at != std::string::npos && text[at] == '-') return text + " is negative";
        errno = 0;
        static_cast<void>(std::strtoull(text.c_str(), nullptr, 0));
        return errno == ERANGE ? text + " is too large" : std::string();
      },
      "");
  const CLI::Validator finite(
      [](const std::string& text) -> std::string {
        return std::isfinite(std::strtod(text.c_str(), nullptr)) ? std::string() : text + " is not a number";
      },
      "");
  for (CLI::Option* const option : app->get_options()) {
    // As a transform, so that it sees the text before sizes such as 4k become numbers.
    if (option->get_type_name().find("UINT") != std::string::npos) option->transform(whole);
    if (option->get_type_name().find("FLOAT") != std::string::npos) option->transform(finite);
  }
  for (CLI::App* const command : app->get_subcommands([](CLI::App*) { return true; })) RejectOddNumbers(command);
}

}  // namespace cambium
