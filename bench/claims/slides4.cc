// What the four cases of a talk on BlobDB, Titan and DiffKV (2021) showed.
#include "claims/figures.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "BlobDB, Titan and DiffKV, a talk, 2021";
constexpr const char* kLarge = "slides4, 32 KiB";
constexpr const char* kSmall = "slides4, 256 B";

Claim SpeedClaim(const Figures& f, const char* id, const char* experiment, const char* text, const char* published,
                 double low, double high) {
  Claim claim{.id = id, .source = kSource, .text = text, .published = published};
  const auto ratio = f.RatioOf(experiment, "rocksdb_blob_nogc", "rocksdb_leveled", "overwrite", OpsPerSec);
  if (!ratio.has_value()) return NotMeasured(claim, "rocksdb_blob_nogc and rocksdb_leveled did not run");
  const auto over = [&](const char* engine, const char* other) {
    return Text(f.RatioOf(experiment, engine, other, "overwrite", OpsPerSec), 1, "x");
  };
  claim.measured = "BlobDB " + Text(ratio, 1, "x") + " leveled, with its GC " + over("rocksdb_blob", "rocksdb_leveled") +
                   "; Cambium tree " + over("cambium/btree", "rocksdb_leveled") + " leveled and " +
                   over("cambium/btree", "rocksdb_blob_nogc") + " BlobDB, LSM " + over("cambium/lsm", "rocksdb_leveled") +
                   " and " + over("cambium/lsm", "rocksdb_blob_nogc");
  claim.verdict = *ratio >= low && *ratio <= high ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "another device, another number of cores, a shorter run";
  return claim;
}

Claim WriteAmpClaim(const Figures& f) {
  Claim claim{.id = "S2", .source = kSource, .text = "of 32 KB values, blobs are written once and tables 2.5 times",
              .published = "2.47 without blobs, 1.01 with them"};
  const auto amp = [&](const char* engine) { return f.WriteAmpOf(kLarge, engine, {"overwrite"}); };
  const auto leveled = amp("rocksdb_leveled");
  const auto blob = amp("rocksdb_blob_nogc");
  if (!leveled.has_value() || !blob.has_value()) return NotMeasured(claim, "rocksdb_blob_nogc and rocksdb_leveled did not run");
  claim.measured = "leveled " + Text(leveled, 2) + ", BlobDB " + Text(blob, 2) + ", with its GC " +
                   Text(amp("rocksdb_blob"), 2) + "; Cambium tree " + Text(amp("cambium/btree"), 2) + ", LSM " +
                   Text(amp("cambium/lsm"), 2) + ", both within their ceiling of space";
  claim.verdict = *blob < 1.1 && *leveled > 1.5 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "a shorter run compacts less";
  return claim;
}

Claim StallClaim(const Figures& f) {
  Claim claim{.id = "S3", .source = kSource, .text = "blobs halve the time that writes of 32 KB are held back",
              .published = "73 % to 37 %"};
  const auto stall = [&](const char* engine) { return f.Of(kLarge, engine, "overwrite", StallPercent); };
  const auto leveled = stall("rocksdb_leveled");
  const auto blob = stall("rocksdb_blob_nogc");
  if (!leveled.has_value() || !blob.has_value()) return NotMeasured(claim, "no engine told how long writes were held back");
  claim.measured = "leveled " + Text(leveled, 0, " %") + ", BlobDB " + Text(blob, 0, " %") + "; Cambium tree " +
                   Text(stall("cambium/btree"), 0, " %") + ", LSM " + Text(stall("cambium/lsm"), 0, " %");
  claim.verdict = *blob < *leveled ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "the device takes what flushes write, so that neither waits";
  return claim;
}

// The slides give files and bytes, and not that eight times as much lay on disk as was alive.
Claim SpaceClaim(const Figures& f) {
  Claim claim{.id = "S4", .source = kSource, .text = "without blob GC, what is overwritten stays",
              .published = "25.5 GB for 3.05 GiB alive: 8.0 with blobs, 2.0 leveled"};
  const auto space = [&](const char* engine) { return f.Of(kLarge, engine, "overwrite", SpaceAmp); };
  const auto blob = space("rocksdb_blob_nogc");
  const auto tree = space("cambium/btree");
  if (!blob.has_value()) return NotMeasured(claim, "rocksdb_blob_nogc did not run");
  claim.measured = "BlobDB " + Text(blob, 1) + ", with its GC " + Text(space("rocksdb_blob"), 1) + ", leveled " +
                   Text(space("rocksdb_leveled"), 1) + "; Cambium tree " + Text(tree, 2) + ", LSM " +
                   Text(space("cambium/lsm"), 2) + ", whose ceiling is 1.5";
  claim.verdict = *blob > 2 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "fewer overwrites of each key than in 300 seconds";
  return claim;
}

}  // namespace

std::vector<Claim> JudgeSlides4(const Figures& f) {
  if (!f.Has("slides4")) return {};
  return {SpeedClaim(f, "S1", kLarge, "overwrites of 32 KB are 3.5 times as fast with blobs", "3.5x", 1.75, 1000),
          WriteAmpClaim(f),
          StallClaim(f),
          SpaceClaim(f),
          SpeedClaim(f, "S5", kSmall, "with 256 B, below the cutoff, blobs change nothing", "0.9x", 0.8, 1.25)};
}

}  // namespace cambium::bench
