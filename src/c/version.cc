#include "cambium/c.h"

// From the project's version, by its CMakeLists.txt.
int cambium_abi_version() { return CAMBIUM_ABI_VERSION; }
int cambium_major_version() { return CAMBIUM_VERSION_MAJOR; }
int cambium_minor_version() { return CAMBIUM_VERSION_MINOR; }
int cambium_patch_version() { return CAMBIUM_VERSION_PATCH; }
