// What the post that introduced Badger says (dgraph.io, 2017). Badger itself cannot be linked from here; it is a log and
// an LSM of keys, which Cambium's LSM is, so that Cambium stands in its place beside RocksDB.
#include "claims/figures.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "Introducing Badger, dgraph.io, 2017";
constexpr const char* kTree = "cambium/btree";
constexpr const char* kLsm = "cambium/lsm";
constexpr const char* kRocks = "rocksdb_leveled";
constexpr const char* kSizes[] = {"16 B", "128 B", "1 KiB", "16 KiB"};

std::string Experiment(const char* size) { return std::string("badger2017, ") + size; }

// "16 B 0.5x, 128 B 0.9x, ..."
std::string BySize(const Figures& f, const char* a, const char* b, const char* benchmark) {
  std::string text;
  for (const char* size : kSizes) {
    text += std::string(text.empty() ? "" : ", ") + size + " " + Text(f.RatioOf(Experiment(size), a, b, benchmark, OpsPerSec), 1, "x");
  }
  return text;
}

Claim LoadClaim(const Figures& f) {
  Claim claim{.id = "B1", .source = kSource, .text = "the larger the values, the faster the load beside RocksDB",
              .published = "16 B 0.5x, 128 B 0.86x, 1 KB 4.5x, 16 KB 11.7x"};
  const auto small = f.RatioOf(Experiment("16 B"), kLsm, kRocks, "filluniquerandom", OpsPerSec);
  const auto large = f.RatioOf(Experiment("16 KiB"), kLsm, kRocks, "filluniquerandom", OpsPerSec);
  if (!small.has_value() || !large.has_value()) return NotMeasured(claim, "cambium's LSM and rocksdb_leveled did not run");
  claim.measured = "LSM: " + BySize(f, kLsm, kRocks, "filluniquerandom") + "; tree: " + BySize(f, kTree, kRocks, "filluniquerandom");
  claim.verdict = *large > *small && *large > 1.5 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "RocksDB's compactions find all in memory at this scale";
  return claim;
}

Claim IndexClaim(const Figures& f) {
  Claim claim{.id = "B2", .source = kSource, .text = "the index depends on the keys alone", .published = "23 bytes a key, at 1 KB"};
  const auto per_key = [](const Result& r) -> std::optional<double> {
    if (!r.index_bytes.has_value() || !r.live_keys.has_value() || *r.live_keys == 0) return std::nullopt;
    return static_cast<double>(*r.index_bytes) / static_cast<double>(*r.live_keys);
  };
  Range tree;
  Range lsm;
  for (const char* size : {"128 B", "1 KiB", "16 KiB"}) {
    Add(&tree, f.Of(Experiment(size), kTree, "filluniquerandom", per_key));
    Add(&lsm, f.Of(Experiment(size), kLsm, "filluniquerandom", per_key));
  }
  if (tree.empty() && lsm.empty()) return NotMeasured(claim, "cambium did not run");
  claim.measured = "128 B to 16 KiB: tree " + tree.Text(1, " bytes") + ", LSM " + lsm.Text(1, " bytes");
  const bool holds = (tree.empty() || tree.high() < 40) && (lsm.empty() || lsm.high() < 40);
  claim.verdict = holds ? Verdict::kHolds : Verdict::kDiffers;
  if (!holds) claim.why = "values below the cutoff are in the index";
  return claim;
}

Claim GetClaim(const Figures& f) {
  Claim claim{.id = "B3", .source = kSource, .text = "a random Get takes a fifth to a quarter of RocksDB's time",
              .published = "128 B 3.7x, 1 KB 4.2x, 16 KB 5.4x"};
  const auto ratio = f.RatioOf(Experiment("1 KiB"), kTree, kRocks, "readrandom", OpsPerSec);
  if (!ratio.has_value()) return NotMeasured(claim, "cambium's tree and rocksdb_leveled did not run");
  claim.measured = "tree: " + BySize(f, kTree, kRocks, "readrandom") + "; LSM: " + BySize(f, kLsm, kRocks, "readrandom");
  claim.verdict = *ratio >= 2 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) {
    claim.why = "what is read is in memory here, where RocksDB lacks a system call and not a read of the device";
  }
  return claim;
}

Claim IterationClaim(const Figures& f) {
  Claim claim{.id = "B4", .source = kSource, .text = "iteration with values is slower than RocksDB's, but at 16 KB",
              .published = "128 B 0.08x, 1 KB 0.24x, 16 KB 1.07x"};
  const auto small = f.RatioOf(Experiment("1 KiB"), kLsm, kRocks, "readseq", OpsPerSec);
  if (!small.has_value()) return NotMeasured(claim, "cambium's LSM and rocksdb_leveled did not run");
  claim.measured = "LSM: " + BySize(f, kLsm, kRocks, "readseq") + "; tree: " + BySize(f, kTree, kRocks, "readseq");
  claim.verdict = *small < 0.9 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "values are asked for together, ahead of the iterator, in the order of the log";
  return claim;
}

Claim KeyClaim(const Figures& f) {
  Claim claim{.id = "B5", .source = kSource, .text = "iteration over keys alone costs almost nothing",
              .published = "2 M keys in 0.5 to 0.7 s: 2.8 to 4.2 M a second"};
  Range tree;
  Range lsm;
  for (const char* size : {"128 B", "1 KiB", "16 KiB"}) {
    const auto millions = [](const Result& r) { return std::optional<double>(r.ops_per_sec * 1e-6); };
    Add(&tree, f.Of(Experiment(size), kTree, "readseqkeys", millions));
    Add(&lsm, f.Of(Experiment(size), kLsm, "readseqkeys", millions));
  }
  if (tree.empty() && lsm.empty()) return NotMeasured(claim, "cambium did not run");
  claim.measured = "tree " + tree.Text(1, " M/s") + ", LSM " + lsm.Text(1, " M/s");
  claim.verdict = (tree.empty() || tree.high() > 2.8) && (lsm.empty() || lsm.high() > 2.8) ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "a slower or busier processor";
  return claim;
}

// The question with which the post ends, and this project began.
Claim TreeClaim(const Figures& f) {
  Claim claim{.id = "B10", .source = kSource,
              .text = "a B+-tree of keys and value pointers \"might achieve the same write throughput\"", .published = "an idea"};
  Range large;
  for (const char* size : {"128 B", "1 KiB", "16 KiB"}) {
    Add(&large, f.RatioOf(Experiment(size), kTree, kLsm, "filluniquerandom", OpsPerSec));
  }
  if (large.empty()) return NotMeasured(claim, "cambium did not run with both indexes");
  claim.measured = "load of the tree over that of the LSM: " + BySize(f, kTree, kLsm, "filluniquerandom");
  claim.verdict = large.low() >= 0.9 ? Verdict::kHolds : Verdict::kDiffers;
  if (claim.verdict == Verdict::kDiffers) claim.why = "values below the cutoff are in the leaves, which a sweep writes again";
  return claim;
}

}  // namespace

std::vector<Claim> JudgeBadger2017(const Figures& f) {
  if (!f.Has("badger2017")) return {};
  return {LoadClaim(f), IndexClaim(f), GetClaim(f), IterationClaim(f), KeyClaim(f), TreeClaim(f)};
}

}  // namespace cambium::bench
