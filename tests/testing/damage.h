// Every kind of damage to a file of a database, as functions that apply it to a copy of the disk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/scale.h"
#include "util/prng.h"

namespace cambium::testing {

struct Damage {
  const char* name;
  // Calls `make` with one function per damaged copy.
  using Change = std::function<Status(SimFileSystem*)>;
  std::function<void(const std::string& path, const std::string& bytes, Prng&, const std::function<void(Change)>& make)>
      apply;
};

// Longer than 70 lines: a table, one row per kind of damage.
[[nodiscard]] inline std::vector<Damage> Damages(const SimImage& older, const SimImage& other) {
  return {
      {"flip a bit",
       [](const std::string& path, const std::string& bytes, Prng&, const auto& make) {
         const std::uint64_t step = kUnderSanitizer ? 23 : 1;
         for (std::uint64_t at = 0; at < bytes.size(); at += step) {
           make([=](SimFileSystem* fs) { return fs->tampering().FlipBit(path, at, static_cast<int>(at / step % 8)); });
         }
       }},
      {"zero 512 bytes",
       [](const std::string& path, const std::string& bytes, Prng&, const auto& make) {
         // Skips the zeros at the end: a log's file may have grown ahead.
         for (std::uint64_t at = 0; at <= bytes.find_last_not_of('\0'); at += 512) {
           const std::string zeros(std::min<std::size_t>(512, bytes.size() - at), '\0');
           make([=](SimFileSystem* fs) { return fs->tampering().Overwrite(path, at, zeros); });
         }
       }},
      {"16 random bytes",
       [](const std::string& path, const std::string& bytes, Prng& prng, const auto& make) {
         for (int i = 0; i < 30 && bytes.size() > 16; ++i) {
           const std::uint64_t at = prng.Uniform(bytes.size() - 16);
           const std::string random = prng.Bytes(16);
           make([=](SimFileSystem* fs) { return fs->tampering().Overwrite(path, at, random); });
         }
       }},
      {"cut off",
       [](const std::string& path, const std::string& bytes, Prng&, const auto& make) {
         std::set<std::uint64_t> sizes = {1, 64, 127, 128, 129, bytes.size() - 1, bytes.size() - 8, bytes.size() - 32};
         for (std::uint64_t at = 512; at < bytes.size(); at += 512) sizes.insert(at);
         for (std::uint64_t at = 136; at<bytes.size(); at += bytes.size()> 4'000 ? 1'000 : 40) sizes.insert(at);
         for (const std::uint64_t size : sizes) {
           if (size < bytes.size()) make([=](SimFileSystem* fs) { return fs->tampering().Truncate(path, size); });
         }
       }},
      {"garbage appended",
       [](const std::string& path, const std::string&, Prng& prng, const auto& make) {
         for (const std::size_t size : {1u, 100u, 5'000u}) {
           const std::string random = prng.Bytes(size);
           make([=](SimFileSystem* fs) { return fs->tampering().Append(path, random); });
           make([=](SimFileSystem* fs) { return fs->tampering().Append(path, std::string(size, '\0')); });
         }
       }},
      {"swap two blocks",
       [](const std::string& path, const std::string& bytes, Prng& prng, const auto& make) {
         const std::uint64_t blocks = bytes.size() / 512;
         for (int i = 0; i < 12 && blocks >= 2; ++i) {
           const std::uint64_t a = prng.Uniform(blocks);
           const std::uint64_t b = (a + 1 + prng.Uniform(blocks - 1)) % blocks;
           if (bytes.compare(a * 512, 512, bytes, b * 512, 512) == 0) continue;
           make([=](SimFileSystem* fs) { return fs->tampering().SwapBlocks(path, a * 512, b * 512, 512); });
         }
       }},
      {"older copy",
       [older](const std::string& path, const std::string& bytes, Prng&, const auto& make) {
         const SimFileSystem then(older);
         std::string old;
         if (!then.probe().ReadContents(path, &old).ok() || old == bytes) return;
         make([=](SimFileSystem* fs) { return fs->tampering().WriteContents(path, old); });
       }},
      {"another database's",
       [other](const std::string& path, const std::string&, Prng&, const auto& make) {
         const SimFileSystem elsewhere(other);
         std::string foreign;
         if (!elsewhere.probe().ReadContents(path, &foreign).ok()) return;
         make([=](SimFileSystem* fs) { return fs->tampering().WriteContents(path, foreign); });
       }},
      {"deleted", [](const std::string& path, const std::string&, Prng&,
                     const auto& make) { make([=](SimFileSystem* fs) { return fs->tampering().Remove(path); }); }},
      {"empty", [](const std::string& path, const std::string&, Prng&,
                   const auto& make) { make([=](SimFileSystem* fs) { return fs->tampering().Truncate(path, 0); }); }},
      {"a directory",
       [](const std::string& path, const std::string&, Prng&, const auto& make) {
         make([=](SimFileSystem* fs) {
           const Status s = fs->tampering().Remove(path);
           return s.ok() ? fs->CreateDirectory(path) : s;
         });
       }},
  };
}

}  // namespace cambium::testing
