// Properties: figures of a database by name, of one column family or of the whole database.
//
// Implemented in properties.cc; the properties of disk space are in space_properties.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "state/db_state.h"
#include "upkeep/upkeep.h"

namespace cambium {

// Any thread. `family` is one of this database.
class Properties {
 public:
  Properties(DbState* state, Upkeep* upkeep) : state_(*state), db_(state->context), upkeep_(*upkeep) {}

  // Return false if no property of this kind has the name, or the database does not have it.
  bool GetInt(const Family& family, Slice property, std::uint64_t* value);
  bool GetMap(const Family& family, Slice property, std::map<std::string, std::string>* value);
  bool GetText(const Family& family, Slice property, std::string* value);

 private:
  using Figures = std::map<std::string, std::string>;
  // The arguments of the functions in kIntProperties.
  struct Asked {
    const View& view;
    const FamilyView& family;
    LayersShape shape;
  };
  struct IntProperty;
  static const IntProperty kIntProperties[];

  // The bytes of all segments, those with relocated and large values included.
  struct LogBytes {
    std::uint64_t segments = 0;  // their number
    std::uint64_t current = 0;   // of segments in the current view
    std::uint64_t live = 0;      // of `current`: referenced by entries
    std::uint64_t leaving = 0;   // of segments that only older views have
  };
  bool GetLogBytes(std::string_view name, const View& view, std::uint64_t* value);
  [[nodiscard]] LogBytes MeasureLog(const View& view) const;
  [[nodiscard]] std::uint64_t LiveBytes(const FamilyView& family) const;
  bool GetLevel(const Family& family, std::string_view name, std::string* value);
  bool GetFiles(const Family& family, std::string* value);
  bool GetBlobStats(const Family& family, std::string* value);
  [[nodiscard]] Figures IndexStats(const FamilyView& family) const;
  // space_properties.cc
  void AddPinned(Figures* figures) const;
  void AddPrepared(Figures* figures) const;
  [[nodiscard]] Figures SpaceStats();
  [[nodiscard]] Figures GcForecast();

  DbState& state_;
  DbContext& db_;
  Upkeep& upkeep_;
};

}  // namespace cambium
