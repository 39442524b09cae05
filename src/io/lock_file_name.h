// The name of the file that FileSystem::Lock locks beside the directory.
#pragma once

namespace cambium {

// One definition for all floors: two inline constants of one name and different types are one symbol to the linker.
inline constexpr char kLockFileName[] = "LOCK";

}  // namespace cambium
