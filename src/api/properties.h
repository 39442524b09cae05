// Properties: what a database tells of itself: figures by name, of a column family or of the whole database.
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

  // False for a name that is none of a number, or of something that this database does not have.
  bool GetInt(const Family& family, Slice property, std::uint64_t* value);
  bool GetMap(const Family& family, Slice property, std::map<std::string, std::string>* value);
  bool GetText(const Family& family, Slice property, std::string* value);

 private:
  using Figures = std::map<std::string, std::string>;
  // What the functions of numbers are given.
  struct Asked {
    const View& view;
    const FamilyView& family;
    LayersShape shape;
  };
  struct IntProperty;
  static const IntProperty kIntProperties[];

  // What all segments of the log take, those that older views still have included or not, and what of it is garbage.
  struct LogBytes {
    std::uint64_t segments = 0;
    std::uint64_t current = 0;
    std::uint64_t live = 0;
    std::uint64_t leaving = 0;
  };
  bool GetLogBytes(std::string_view name, const View& view, std::uint64_t* value);
  [[nodiscard]] LogBytes MeasureLog(const View& view) const;
  bool GetLevel(const Family& family, std::string_view name, std::string* value);
  bool GetBlobStats(const Family& family, std::string* value);
  [[nodiscard]] Figures IndexStats(const FamilyView& family) const;
  // space_properties.cc
  void AddPinned(Figures* figures) const;
  [[nodiscard]] Figures SpaceStats();
  [[nodiscard]] Figures GcForecast();

  DbState& state_;
  DbContext& db_;
  Upkeep& upkeep_;
};

}  // namespace cambium
