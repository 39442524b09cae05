// Column families: maps of their own in one database. They share the log, so that a batch over several of them is
// committed as a whole; each has its own order of keys, index and options.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/options.h"

namespace cambium {

// The family that every database has. It is opened with DB::Open(options, path, ...), and cannot be dropped.
inline const std::string kDefaultColumnFamilyName = "default";

struct ColumnFamilyDescriptor {
  ColumnFamilyDescriptor() = default;
  ColumnFamilyDescriptor(std::string its_name, ColumnFamilyOptions its_options)
      : name(std::move(its_name)), options(std::move(its_options)) {}
  std::string name = kDefaultColumnFamilyName;
  ColumnFamilyOptions options;
};

// Names an open family in calls. Made by DB::Open and DB::CreateColumnFamily, and given back by
// DB::DestroyColumnFamilyHandle (or delete) before the database is closed; DB::DefaultColumnFamily() belongs to the
// database. Immutable; any thread. The handle of a family that was dropped is good for nothing but to be given back.
class ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;
  [[nodiscard]] virtual const std::string& GetName() const = 0;
  // Never used again by another family of the database.
  [[nodiscard]] virtual std::uint32_t GetID() const = 0;
  [[nodiscard]] virtual const Comparator* GetComparator() const = 0;
  // Name and the options in force.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const = 0;
};

}  // namespace cambium
