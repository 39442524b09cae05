// What RocksDB's post on integrated BlobDB says (rocksdb.org, 2021). A claim holds if it holds for RocksDB here; what
// Cambium has stands beside it.
#include "claims/figures.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "Integrated BlobDB, rocksdb.org, 2021";
constexpr const char* kSizes[] = {"1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"};
constexpr const char* kTree = "cambium/btree";
constexpr const char* kLsm = "cambium/lsm";
constexpr const char* kBlob = "rocksdb_blob";
constexpr const char* kLeveled = "rocksdb_leveled";
constexpr const char* kUniversal = "rocksdb_universal";

std::string Experiment(const char* size) { return std::string("blobdb2021, ") + size; }

struct Four {
  Range tree, lsm, blob, leveled, universal;
  [[nodiscard]] std::string Text(int digits, const char* unit) const {
    return "BlobDB " + blob.Text(digits, unit) + ", leveled " + leveled.Text(digits, unit) + ", universal " +
           universal.Text(digits, unit) + "; Cambium tree " + tree.Text(digits, unit) + ", LSM " + lsm.Text(digits, unit);
  }
};

Four WriteAmps(const Figures& f, const std::vector<std::string>& benchmarks) {
  Four four;
  for (const char* size : kSizes) {
    Add(&four.tree, f.WriteAmpOf(Experiment(size), kTree, benchmarks));
    Add(&four.lsm, f.WriteAmpOf(Experiment(size), kLsm, benchmarks));
    Add(&four.blob, f.WriteAmpOf(Experiment(size), kBlob, benchmarks));
    Add(&four.leveled, f.WriteAmpOf(Experiment(size), kLeveled, benchmarks));
    Add(&four.universal, f.WriteAmpOf(Experiment(size), kUniversal, benchmarks));
  }
  return four;
}

// Blobs are written again less often than leveled tables, at every size.
Claim WriteAmpClaim(const Figures& f, const char* id, const char* text, const char* published,
                    const std::vector<std::string>& benchmarks) {
  Claim claim{.id = id, .source = kSource, .text = text, .published = published};
  const Four four = WriteAmps(f, benchmarks);
  if (four.blob.empty() || four.leveled.empty()) return NotMeasured(claim, "rocksdb_blob and rocksdb_leveled did not run");
  claim.measured = four.Text(2, "");
  const bool holds = four.blob.high() < four.leveled.low();
  claim.verdict = holds ? Verdict::kHolds : Verdict::kDiffers;
  if (!holds) {
    claim.why = "at this scale few values are compacted more than once, so leveled tables are written less often than at 1 TB";
  }
  return claim;
}

// Rates of `a` over those of `b`, by size.
Range Ratios(const Figures& f, const char* a, const char* b, const char* benchmark) {
  Range range;
  for (const char* size : kSizes) Add(&range, f.RatioOf(Experiment(size), a, b, benchmark, OpsPerSec));
  return range;
}

Claim LoadClaim(const Figures& f) {
  Claim claim{.id = "A6", .source = kSource, .text = "the initial load, both stages, is 2.3 to 4.7 times as fast with blobs",
              .published = "2.3x to 4.7x"};
  Range blob;
  Range tree;
  Range lsm;
  for (const char* size : kSizes) {
    const auto leveled = f.SecondsOf(Experiment(size), kLeveled, {"fillrandom", "compact"});
    const auto over = [&](const char* engine) -> std::optional<double> {
      const auto seconds = f.SecondsOf(Experiment(size), engine, {"fillrandom", "compact"});
      if (!seconds.has_value() || !leveled.has_value() || *seconds <= 0) return std::nullopt;
      return *leveled / *seconds;
    };
    Add(&blob, over(kBlob));
    Add(&tree, over(kTree));
    Add(&lsm, over(kLsm));
  }
  if (blob.empty()) return NotMeasured(claim, "rocksdb_blob and rocksdb_leveled did not run");
  claim.measured = "over leveled: BlobDB " + blob.Text(1, "x") + "; Cambium tree " + tree.Text(1, "x") + ", LSM " + lsm.Text(1, "x");
  claim.verdict = blob.low() >= 1.5 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) {
    claim.why = "here the load is a normal one, with a log and with compactions as they come; the post's first stage had neither";
  }
  return claim;
}

Claim StallClaim(const Figures& f) {
  Claim claim{.id = "A7", .source = kSource, .text = "overwrites stall 40 to 70 % of the time without blobs, and not with them, but at 1 MB",
              .published = "40 to 70 %; 0 %"};
  Range blob;
  Range leveled;
  Range tree;
  for (const char* size : kSizes) {
    Add(&blob, f.Of(Experiment(size), kBlob, "overwrite", StallPercent));
    Add(&leveled, f.Of(Experiment(size), kLeveled, "overwrite", StallPercent));
    Add(&tree, f.Of(Experiment(size), kTree, "overwrite", StallPercent));
  }
  if (blob.empty() || leveled.empty()) return NotMeasured(claim, "no engine told how long writes were held back");
  claim.measured = "leveled " + leveled.Text(0, " %") + ", BlobDB " + blob.Text(0, " %") + "; Cambium tree " + tree.Text(0, " %");
  claim.verdict = blob.high() <= 5 && leveled.high() >= 20 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "short runs end before debts of compaction stop writers, or small buffers stop all";
  return claim;
}

Claim OverwriteClaim(const Figures& f) {
  Claim claim{.id = "A8", .source = kSource,
              .text = "overwrites are 2.1 to 3.5 times as fast as leveled tables', 1.6 to 3.0 times as universal's",
              .published = "2.1x to 3.5x; 1.6x to 3.0x"};
  const Range leveled = Ratios(f, kBlob, kLeveled, "overwrite");
  if (leveled.empty()) return NotMeasured(claim, "rocksdb_blob and rocksdb_leveled did not run");
  claim.measured = "BlobDB over leveled " + leveled.Text(1, "x") + ", over universal " +
                   Ratios(f, kBlob, kUniversal, "overwrite").Text(1, "x") + "; Cambium tree over leveled " +
                   Ratios(f, kTree, kLeveled, "overwrite").Text(1, "x") + ", over BlobDB " +
                   Ratios(f, kTree, kBlob, "overwrite").Text(1, "x") + "; LSM over BlobDB " +
                   Ratios(f, kLsm, kBlob, "overwrite").Text(1, "x");
  claim.verdict = leveled.high() >= 2.1 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "the data fits into memory, so that a compaction costs the processor and no reads";
  return claim;
}

Claim ReadClaim(const Figures& f) {
  Claim claim{.id = "A9", .source = kSource,
              .text = "reads are as fast as leveled tables' or faster, but for range scans of 1 and 4 KB",
              .published = "up to 1.4x leveled, 5.6x universal"};
  const Range points = Ratios(f, kBlob, kLeveled, "readrandom");
  const Range scans = Ratios(f, kBlob, kLeveled, "seekrandom");
  if (points.empty()) return NotMeasured(claim, "rocksdb_blob and rocksdb_leveled did not run");
  claim.measured = "BlobDB over leveled: points " + points.Text(2, "x") + ", scans " + scans.Text(2, "x") +
                   "; Cambium tree over leveled: points " + Ratios(f, kTree, kLeveled, "readrandom").Text(2, "x") +
                   ", scans " + Ratios(f, kTree, kLeveled, "seekrandom").Text(2, "x");
  claim.verdict = points.low() >= 0.95 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) {
    claim.why = "what is read is in the page cache: a blob costs a system call, a block of the block cache does not";
  }
  return claim;
}

}  // namespace

std::vector<Claim> JudgeBlobDb2021(const Figures& f) {
  if (!f.Has("blobdb2021")) return {};
  return {
      WriteAmpClaim(f, "A2", "write amplification of the initial load", "1.0 to 1.02 with blobs, 1.6 leveled and universal",
                    {"fillrandom", "compact"}),
      WriteAmpClaim(f, "A3", "write amplification of overwrites", "blobs 1.4 to 1.7, leveled 6.1 to 6.8, universal 5.7 to 6.2",
                    {"overwrite"}),
      WriteAmpClaim(f, "A4", "write amplification while points are read", "blobs 1.4 to 1.8, leveled 10.8 to 12.5, universal 2.2 to 6.6",
                    {"readwhilewriting"}),
      WriteAmpClaim(f, "A5", "write amplification while ranges are read", "blobs 1.4 to 1.8, leveled 13.6 to 14.9, universal 2.8 to 5.0",
                    {"seekrandomwhilewriting"}),
      LoadClaim(f),
      StallClaim(f),
      OverwriteClaim(f),
      ReadClaim(f),
      NotMeasured({.id = "A10", .source = kSource, .text = "the load is faster than the legacy BlobDB's",
                   .published = "4.6x without a log, 2.3x with one"},
                  "the legacy BlobDB is no longer part of the library that is installed"),
  };
}

}  // namespace cambium::bench
