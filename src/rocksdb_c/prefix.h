// RocksPrefix: the part of a key that a slice transform returns.
#pragma once

#include <memory>
#include <string>

#include "cambium/slice.h"

class RocksPrefix {
 public:
  virtual ~RocksPrefix() = default;
  [[nodiscard]] virtual bool InDomain(cambium::Slice key) const = 0;
  [[nodiscard]] virtual std::string Transform(cambium::Slice key) const = 0;
};
