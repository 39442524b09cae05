// HeldMessages holds messages back until Open is sure to succeed: an Open that is refused writes nothing, not even LOG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cambium/logger.h"

namespace cambium {

class HeldMessages final : public Logger {
 public:
  void Log(InfoLogLevel level, Slice line) override { held_.emplace_back(level, line.ToString()); }
  void PassOn(Logger* logger) const {
    for (const auto& [level, line] : held_) logger->Log(level, line);
  }

 private:
  std::vector<std::pair<InfoLogLevel, std::string>> held_;
};

}  // namespace cambium
