// What a power cut does to what was not synced: how it is drawn, and a record of what was drawn.
#pragma once

#include <cstdint>
#include <string>

namespace cambium {

inline constexpr std::uint64_t kSimSectorSize = 512;

enum class SimDamage : unsigned char {
  kAllLost,      // what was synced, and nothing else
  kAllKept,      // as if everything had been synced
  kOneFileKept,  // one file's changes survive, those of the others do not
  kOneFileLost,  // the reverse
  kPrefix,       // everything up to some moment, nothing after it
  kOneUnit,      // all kept, or all lost, but for one sector, one size or one name
  kUniform,      // each sector, size and name by itself
};
inline constexpr int kSimDamageKinds = 7;

// Weights of the kinds, and of what may happen to a sector when it is drawn by itself.
struct DamageMix {
  unsigned all_lost = 2;
  unsigned all_kept = 1;
  unsigned one_file_kept = 4;
  unsigned one_file_lost = 4;
  unsigned prefix = 3;
  unsigned one_unit = 4;
  unsigned uniform = 6;

  unsigned torn_per_mille = 80;     // one version up to some byte, another behind it
  unsigned garbage_per_mille = 60;  // random bytes
  // Garbage reaches only the bytes that unsynced writes cover. Without this, a torn write may take the synced bytes
  // that share its sector, which no append-only file survives unless it pads each sync to a sector; drives promise
  // otherwise.
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

// What happened in one cut, for the message of a failing test.
struct CutReport {
  SimDamage damage = SimDamage::kAllLost;
  std::uint64_t dirty_files = 0;
  // Of sectors drawn one by one (kOneUnit, kUniform):
  std::uint64_t sectors_durable = 0;
  std::uint64_t sectors_newest = 0;
  std::uint64_t sectors_between = 0;  // a version that was overwritten later
  std::uint64_t sectors_torn = 0;
  std::uint64_t sectors_garbage = 0;
  std::uint64_t name_changes = 0;
  std::uint64_t name_changes_kept = 0;

  [[nodiscard]] std::string ToString() const;
};

// One thing that a cut may take alone: for exhaustive tests. See SimImage::Units.
struct SimUnit {
  enum class Kind : unsigned char { kSector, kSize, kName };
  Kind kind = Kind::kSector;
  std::uint64_t inode = 0;   // of a sector or a size
  std::uint64_t number = 0;  // sector, or index of the name change
};

}  // namespace cambium
