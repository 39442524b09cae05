// Column families: separate maps in one database. They share the log, so that a batch over several of them is applied
// as a whole; each has its own key order, index and options.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/options.h"

namespace cambium {

// The family that every database has. DB::Open(options, path, ...) opens it. It cannot be dropped.
inline const std::string kDefaultColumnFamilyName = "default";

struct ColumnFamilyDescriptor {
  ColumnFamilyDescriptor() = default;
  ColumnFamilyDescriptor(std::string its_name, ColumnFamilyOptions its_options)
      : name(std::move(its_name)), options(std::move(its_options)) {}
  std::string name = kDefaultColumnFamilyName;
  ColumnFamilyOptions options;
};

// Names an open family in calls. DB::Open and DB::CreateColumnFamily make it; release it with
// DB::DestroyColumnFamilyHandle (or delete) before closing the database. The handle of DB::DefaultColumnFamily()
// belongs to the database. Immutable; any thread may use it. The handle of a dropped family can only be released.
class ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;
  [[nodiscard]] virtual const std::string& GetName() const = 0;
  // Unique: the database never gives it to another family.
  [[nodiscard]] virtual std::uint32_t GetID() const = 0;
  [[nodiscard]] virtual const Comparator* GetComparator() const = 0;
  // The name and the options in force.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const = 0;
};

}  // namespace cambium
