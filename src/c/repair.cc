#include "cambium/repair.h"

#include "c/wrappers.h"

using cambium::Status;
using cambium::c::CheckRefused;
using cambium::c::Guarded;

void cambium_repair_db(const cambium_options_t* options, const char* name, char** errptr) {
  Guarded(errptr, [&] {
    const Status checked = CheckRefused(*options);
    return checked.ok() ? cambium::RepairDB(name, options->rep) : checked;
  });
}

void cambium_salvage_db(const cambium_options_t* options, const char* name, const char* out,
                        unsigned char include_unproven, uint64_t* num_lost, uint64_t* num_unproven, char** errptr) {
  *num_lost = *num_unproven = 0;
  Guarded(errptr, [&] {
    Status done = CheckRefused(*options);
    if (!done.ok()) return done;
    cambium::RepairOptions how;
    how.include_unproven = include_unproven != 0;
    cambium::RepairReport report;
    done =
        cambium::RepairDB(name, out, options->rep, {{cambium::kDefaultColumnFamilyName, options->rep}}, how, &report);
    *num_lost = report.lost;
    *num_unproven = report.unproven;
    return done;
  });
}
