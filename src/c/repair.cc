#include "cambium/repair.h"

#include "c/wrappers.h"

using cambium::Status;
using cambium::c::DescribeFamilies;
using cambium::c::Guarded;

void cambium_repair_db(const cambium_options_t* options, const char* name, char** errptr) {
  Guarded(errptr, [&] { return cambium::RepairDB(name, options->rep); });
}

namespace {

Status Salvage(const cambium_options_t* options, const char* name,
               const std::vector<cambium::ColumnFamilyDescriptor>& families, const char* out,
               unsigned char include_unproven, uint64_t* num_lost, uint64_t* num_unproven) {
  cambium::RepairOptions how;
  how.include_unproven = include_unproven != 0;
  cambium::RepairReport report;
  Status done = cambium::RepairDB(name, out, options->rep, families, how, &report);
  *num_lost = report.lost;
  *num_unproven = report.unproven;
  return done;
}

}  // namespace

void cambium_salvage_db(const cambium_options_t* options, const char* name, const char* out,
                        unsigned char include_unproven, uint64_t* num_lost, uint64_t* num_unproven, char** errptr) {
  *num_lost = *num_unproven = 0;
  Guarded(errptr, [&] {
    return Salvage(options, name, {{cambium::kDefaultColumnFamilyName, options->rep}}, out, include_unproven, num_lost,
                   num_unproven);
  });
}

void cambium_salvage_db_column_families(const cambium_options_t* options, const char* name, int num_column_families,
                                        const char* const* column_family_names,
                                        const cambium_options_t* const* column_family_options, const char* out,
                                        unsigned char include_unproven, uint64_t* num_lost, uint64_t* num_unproven,
                                        char** errptr) {
  *num_lost = *num_unproven = 0;
  Guarded(errptr, [&] {
    std::vector<cambium::ColumnFamilyDescriptor> families;
    Status checked = DescribeFamilies(num_column_families, column_family_names, column_family_options, &families);
    return checked.ok() ? Salvage(options, name, families, out, include_unproven, num_lost, num_unproven) : checked;
  });
}
