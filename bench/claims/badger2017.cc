// Claims of the post that introduced Badger (dgraph.io, 2017). Badger cannot be linked from C++. It has a log and an
// LSM of keys, as a Cambium database with an LSM has. So Cambium's LSM stands in for Badger, and is compared with
// RocksDB.
#include "claims/decision.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "Introducing Badger, dgraph.io, 2017";
constexpr const char* kTree = "cambium/btree";
constexpr const char* kLsm = "cambium/lsm";
constexpr const char* kRocks = "rocksdb_leveled";
constexpr const char* kSizes[] = {"16 B", "128 B", "1 KiB", "16 KiB"};
constexpr const char* kSeparated[] = {"128 B", "1 KiB", "16 KiB"};
constexpr const char* kPeersDidNotRun = "cambium's LSM and rocksdb_leveled did not run";

std::string Experiment(const char* size) { return std::string("badger2017, ") + size; }

Several Ratios(const Figures& f, const char* a, const char* b, const char* benchmark, const Metric& metric) {
  Several figures;
  for (const char* size : kSizes) figures.emplace_back(size, f.RatioOf(Experiment(size), a, b, benchmark, metric));
  return figures;
}

std::string LsmAndTree(const Several& lsm, const Several& tree, int digits) {
  return "LSM: " + TextOfEach(lsm, digits, "x") + "; tree: " + TextOfEach(tree, digits, "x");
}

// Returns the figures of the sizes whose values are in the log.
Several OfSeparated(const Figures& f, const char* engine, const char* benchmark, const Metric& metric) {
  Several figures;
  for (const char* size : kSeparated) figures.emplace_back(size, f.Of(Experiment(size), engine, benchmark, metric));
  return figures;
}

Several At(const Several& figures, const std::string& size) {
  Several one = figures;
  std::erase_if(one, [&](const auto& figure) { return figure.first != size; });
  return one;
}

// Returns each size's figure over that of the next smaller size that has one.
Several Growth(const Several& figures) {
  Several growth;
  const std::pair<std::string, Rounds>* smaller = nullptr;
  for (const auto& figure : figures) {
    if (figure.second.empty()) continue;
    if (smaller != nullptr) {
      growth.emplace_back("from " + smaller->first + " to " + figure.first, Divide(figure.second, smaller->second));
    }
    smaller = &figure;
  }
  return growth;
}

Claim LoadClaim(const Figures& f) {
  Claim claim{
      .id = "B1",
      .source = kSource,
      .text = "the larger the values, the faster the load compared with RocksDB; the time to settle is included",
      .published = "16 B 0.5x, 128 B 0.86x, 1 KB 4.5x, 16 KB 11.7x",
      .criterion = "LSM: grows with each size, at least 4.5x at 1 KiB and 11.7x at 16 KiB, settling included"};
  const Several lsm = Ratios(f, kLsm, kRocks, "filluniquerandom", OpsPerSec);
  claim.measured = LsmAndTree(lsm, Ratios(f, kTree, kRocks, "filluniquerandom", OpsPerSec), 1);
  Decision decision;
  decision.Add("growth", Growth(lsm), AtLeast(1), Kind::kSpeed);
  const Reasons reasons{.low = "if all data fits into memory, RocksDB's compactions read nothing from the device"};
  decision.Add("at", At(lsm, "1 KiB"), AtLeast(4.5), Kind::kSpeed, reasons);
  decision.Add("at", At(lsm, "16 KiB"), AtLeast(11.7), Kind::kSpeed, reasons);
  return decision.On(claim, kPeersDidNotRun);
}

Claim IndexClaim(const Figures& f) {
  Claim claim{.id = "B2",
              .source = kSource,
              .text = "the size of the index depends on the keys alone",
              .published = "23 bytes a key, at 1 KB",
              .criterion = "as many bytes a key at 1 and 16 KiB as at 128 B, and at most 23 at 1 KiB"};
  const Metric per_key = [](const Result& r) -> std::optional<double> {
    if (!r.index_bytes.has_value() || r.live_keys.value_or(0) == 0) return std::nullopt;
    return static_cast<double>(*r.index_bytes) / static_cast<double>(*r.live_keys);
  };
  claim.measured.clear();
  Decision decision;
  for (const auto& [name, engine] : {std::pair{"tree", kTree}, {"LSM", kLsm}}) {
    const Several bytes = OfSeparated(f, engine, "filluniquerandom", per_key);
    claim.measured += std::string(claim.measured.empty() ? "" : "; ") + name + ": " + TextOfEach(bytes, 1);
    decision.Add(name, Growth(bytes), About(1), Kind::kPlain,
                 {.high = "with larger values there are fewer keys, so partly filled pages matter"});
    decision.Add(std::string(name) + " at", At(bytes, "1 KiB"), AtMost(23), Kind::kPlain,
                 {.high = "an index entry holds more bytes in addition to its key than Badger's"});
  }
  claim.measured += " bytes a key";
  return decision.On(claim, "cambium did not run");
}

Claim GetClaim(const Figures& f) {
  Claim claim{.id = "B3", .source = kSource, .text = "a random Get takes a fifth to a quarter of RocksDB's time",
              .published = "128 B 3.7x, 1 KB 4.2x, 16 KB 5.4x",
              .criterion = "LSM: at least 3.7x at 128 B, 4.2x at 1 KiB, 5.4x at 16 KiB"};
  const Several lsm = Ratios(f, kLsm, kRocks, "readrandom", OpsPerSec);
  claim.measured = LsmAndTree(lsm, Ratios(f, kTree, kRocks, "readrandom", OpsPerSec), 1);
  Decision decision;
  const Reasons reasons{.low = "if the data is in memory, RocksDB's Get reads nothing from the device"};
  decision.Add("at", At(lsm, "128 B"), AtLeast(3.7), Kind::kSpeed, reasons);
  decision.Add("at", At(lsm, "1 KiB"), AtLeast(4.2), Kind::kSpeed, reasons);
  decision.Add("at", At(lsm, "16 KiB"), AtLeast(5.4), Kind::kSpeed, reasons);
  return decision.On(claim, kPeersDidNotRun);
}

Claim IterationClaim(const Figures& f) {
  Claim claim{.id = "B4",
              .source = kSource,
              .text = "iteration with values is slower than RocksDB's, by any factor, except at 16 KB",
              .published = "128 B 0.08x, 1 KB 0.24x, 16 KB 1.07x",
              .criterion = "LSM: below 0.95x at 128 B and 1 KiB, at least 1x at 16 KiB"};
  const Several lsm = Ratios(f, kLsm, kRocks, "readseq", OpsPerSec);
  claim.measured = LsmAndTree(lsm, Ratios(f, kTree, kRocks, "readseq", OpsPerSec), 1);
  Decision decision;
  const Reasons reasons{.high = "values are read together, ahead of the iterator, in the order of the log"};
  decision.Add("at", At(lsm, "128 B"), {.high = 0.95}, Kind::kSpeed, reasons);
  decision.Add("at", At(lsm, "1 KiB"), {.high = 0.95}, Kind::kSpeed, reasons);
  decision.Add("at", At(lsm, "16 KiB"), AtLeast(1), Kind::kSpeed);
  return decision.On(claim, kPeersDidNotRun);
}

Claim KeyClaim(const Figures& f) {
  Claim claim{.id = "B5", .source = kSource, .text = "iteration over keys alone costs almost nothing",
              .published = "2 M keys in 0.5 to 0.7 s: 2.8 to 4.2 M a second",
              .criterion = "tree and LSM at least 2.8 M a second at 128 B, 1 KiB and 16 KiB"};
  const Metric millions = [](const Result& r) { return std::optional<double>(r.ops_per_sec * 1e-6); };
  const Several tree = OfSeparated(f, kTree, "readseqkeys", millions);
  const Several lsm = OfSeparated(f, kLsm, "readseqkeys", millions);
  claim.measured = "tree " + TextOfRange(tree, 1, " M/s") + ", LSM " + TextOfRange(lsm, 1, " M/s");
  Decision decision;
  decision.Add("tree", tree, AtLeast(2.8), Kind::kPlain);
  decision.Add("LSM", lsm, AtLeast(2.8), Kind::kPlain);
  return decision.On(claim, "cambium did not run");
}

// The question at the end of the post, with which this project began.
Claim TreeClaim(const Figures& f) {
  Claim claim{
      .id = "B10",
      .source = kSource,
      .text =
          "a B+-tree of keys and value pointers \"might achieve the same write throughput\"; the time to settle "
          "is included",
      .published = "an idea",
      .criterion = "tree over LSM at least 1x at each size, settling included"};
  const Several ratios = Ratios(f, kTree, kLsm, "filluniquerandom", OpsPerSec);
  claim.measured = "load of the tree over that of the LSM: " + TextOfEach(ratios, 1, "x");
  Decision decision;
  for (const auto& ratio : ratios) {
    if (ratio.second.empty()) continue;
    const bool is_inline = ratio.first == kSizes[0];
    decision.Add("at", {ratio}, AtLeast(1), Kind::kSpeed,
                 {.low = is_inline ? "values below the cutoff are in the leaves, which sweeps rewrite" : ""});
  }
  return decision.On(claim, "cambium did not run with both indexes");
}

// In the post RocksDB's tables were compressed, and Badger's log below 1 KB was not. Here nothing is compressed. A
// figure much below the published one also counts as a difference.
Claim SizeClaim(const Figures& f) {
  Claim claim{.id = "B11",
              .source = kSource,
              .text = "loaded data takes half as much again on disk as in RocksDB",
              .published = "128 B 38 GB to 24, 1 KB 75.7 to 49, 16 KB 77.1 to 52: 1.6x, 1.5x, 1.5x",
              .criterion = "LSM: 1.6x at 128 B, 1.5x at 1 KiB and 16 KiB, neither more nor less"};
  const Several lsm = Ratios(f, kLsm, kRocks, "filluniquerandom", BytesOnDisk);
  claim.measured = LsmAndTree(lsm, Ratios(f, kTree, kRocks, "filluniquerandom", BytesOnDisk), 2);
  const Reasons reasons{.low = "RocksDB's tables were compressed there, and are not here"};
  Decision decision;
  decision.Add("at", At(lsm, "128 B"), About(1.6), Kind::kPlain, reasons);
  decision.Add("at", At(lsm, "1 KiB"), About(1.5), Kind::kPlain, reasons);
  decision.Add("at", At(lsm, "16 KiB"), About(1.5), Kind::kPlain, reasons);
  return decision.On(claim, kPeersDidNotRun);
}

}  // namespace

std::vector<Claim> JudgeBadger2017(const Figures& f) {
  if (!f.Has("badger2017")) return {};
  return {LoadClaim(f), IndexClaim(f), GetClaim(f), IterationClaim(f), KeyClaim(f), TreeClaim(f), SizeClaim(f)};
}

}  // namespace cambium::bench
