// The name of the file that FileSystem::Lock locks in addition to the directory.
#pragma once

namespace cambium {

// Defined once for all floors: to the linker, two inline constants of one name but different types are one symbol.
inline constexpr char kLockFileName[] = "LOCK";

}  // namespace cambium
