#include "cambium/c.h"

// CMakeLists.txt passes the project's version.
int cambium_abi_version() { return CAMBIUM_ABI_VERSION; }
int cambium_major_version() { return CAMBIUM_VERSION_MAJOR; }
int cambium_minor_version() { return CAMBIUM_VERSION_MINOR; }
int cambium_patch_version() { return CAMBIUM_VERSION_PATCH; }
