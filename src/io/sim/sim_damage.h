// The damage that a power cut does to unsynced changes: how the damage is drawn at random, and a report of the result.
#pragma once

#include <cstdint>
#include <string>

namespace cambium {

inline constexpr std::uint64_t kSimSectorSize = 512;

enum class SimDamage : unsigned char {
  kAllLost,      // only what was synced survives
  kAllKept,      // everything survives, as if it had been synced
  kOneFileKept,  // the changes of one file survive, those of the others do not
  kOneFileLost,  // the changes of one file are lost, those of the others survive
  kPrefix,       // everything up to some moment survives, nothing after it
  kOneUnit,      // all survives or all is lost, except one sector, one size or one name
  kUniform,      // each sector, size and name is drawn separately
};
inline constexpr int kSimDamageKinds = 7;

// The weights of the kinds, and of the possible fates of a sector that is drawn separately.
struct DamageMix {
  unsigned all_lost = 2;
  unsigned all_kept = 1;
  unsigned one_file_kept = 4;
  unsigned one_file_lost = 4;
  unsigned prefix = 3;
  unsigned one_unit = 4;
  unsigned uniform = 6;

  unsigned torn_per_mille = 80;     // one version up to some byte, another after it
  unsigned garbage_per_mille = 60;  // random bytes
  // If true, garbage affects only the bytes that unsynced writes cover. If false, it may destroy synced bytes in the
  // same sector. An append-only file survives such damage only if it pads each sync to a sector; drives promise not to
  // cause it.
  bool spare_synced_bytes = true;

  static DamageMix Only(SimDamage damage) {
    DamageMix mix;
    mix.all_lost = mix.all_kept = mix.one_file_kept = mix.one_file_lost = mix.prefix = mix.one_unit = mix.uniform = 0;
    mix.weight(damage) = 1;
    return mix;
  }
  unsigned& weight(SimDamage damage) {
    unsigned* const weights[kSimDamageKinds] = {&all_lost, &all_kept, &one_file_kept, &one_file_lost,
                                                &prefix,   &one_unit, &uniform};
    return *weights[static_cast<int>(damage)];
  }
};

// Describes one cut, for the message of a failing test.
struct CutReport {
  SimDamage damage = SimDamage::kAllLost;
  std::uint64_t dirty_files = 0;
  // Counts of the sectors that were drawn separately (kOneUnit, kUniform):
  std::uint64_t sectors_durable = 0;
  std::uint64_t sectors_newest = 0;
  std::uint64_t sectors_between = 0;  // a version that was overwritten later
  std::uint64_t sectors_torn = 0;
  std::uint64_t sectors_garbage = 0;
  std::uint64_t name_changes = 0;
  std::uint64_t name_changes_kept = 0;

  [[nodiscard]] std::string ToString() const;
};

// A part that a cut may lose on its own, for exhaustive tests. See SimImage::Units.
struct SimUnit {
  enum class Kind : unsigned char { kSector, kSize, kName };
  Kind kind = Kind::kSector;
  std::uint64_t inode = 0;   // of a sector or a size
  std::uint64_t number = 0;  // sector, or index of the name change
};

}  // namespace cambium
