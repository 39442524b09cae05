// Claims of RocksDB's post on integrated BlobDB (rocksdb.org, 2021). A claim holds if it holds for RocksDB here.
// Cambium's figures are shown for comparison.
#include "claims/decision.h"

namespace cambium::bench {
namespace {

constexpr const char* kSource = "Integrated BlobDB, rocksdb.org, 2021";
constexpr const char* kSizes[] = {"1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"};
constexpr const char* kTree = "cambium/btree";
constexpr const char* kLsm = "cambium/lsm";
constexpr const char* kBlob = "rocksdb_blob";
constexpr const char* kUncollected = "rocksdb_blob_nogc";  // as the post's load
constexpr const char* kLeveled = "rocksdb_leveled";
constexpr const char* kUniversal = "rocksdb_universal";
constexpr const char* kPeersDidNotRun = "rocksdb_blob and rocksdb_leveled did not run";
constexpr const char* kLoadersDidNotRun = "rocksdb_blob_nogc and rocksdb_leveled did not run";
const std::vector<std::string> kLoad = {"fillrandom", "compact"};

// Fewer compactions write less, and stall writers less.
constexpr const char* kFewerLevels =
    "with at most 64 write buffers of data instead of a thousand, tables pass through fewer levels";

// Returns `figure(experiment)` for every size.
template <typename Figure>
Several OfSizes(Figure figure) {
  Several figures;
  for (const char* size : kSizes) figures.emplace_back(size, figure(std::string("blobdb2021, ") + size));
  return figures;
}

// Returns the name of the run that loads values of this size without blob GC, as the post did.
std::string LoadOf(const std::string& experiment) { return experiment + ", load without blob GC"; }

Several OfSizes(const Figures& f, const char* engine, const char* benchmark, const Metric& metric) {
  return OfSizes([&](const std::string& experiment) { return f.Of(experiment, engine, benchmark, metric); });
}

// Returns the rates of `a` over those of `b`.
Several Ratios(const Figures& f, const char* a, const char* b, const char* benchmark) {
  return OfSizes([&](const std::string& experiment) { return f.RatioOf(experiment, a, b, benchmark, WorkingOpsPerSec); });
}

// Returns the figures of those sizes for which `is_meant` is true.
template <typename IsMeant>
Several Only(Several figures, IsMeant is_meant) {
  std::erase_if(figures, [&](const auto& figure) { return !is_meant(figure.first); });
  return figures;
}

struct PublishedAmps {
  double blob_most;
  double leveled_least;
  double universal_least;
};

Several WriteAmps(const Figures& f, const char* engine, const std::vector<std::string>& benchmarks) {
  return OfSizes([&](const std::string& experiment) { return f.WriteAmpOf(experiment, engine, benchmarks); });
}

// Judges the write amplification of all engines in `benchmarks`. `blob`: BlobDB's figures; `measured`: the same as
// text; `high`: why BlobDB's may be too high.
Claim WriteAmpClaim(const Figures& f, Claim claim, const PublishedAmps& published,
                    const std::vector<std::string>& benchmarks, const Several& blob, const std::string& measured,
                    const std::string& high) {
  claim.source = kSource;
  const Several leveled = WriteAmps(f, kLeveled, benchmarks);
  const Several universal = WriteAmps(f, kUniversal, benchmarks);
  claim.measured = measured + ", leveled " + TextOfRange(leveled, 2) + ", universal " + TextOfRange(universal, 2) +
                   "; Cambium tree " + TextOfRange(WriteAmps(f, kTree, benchmarks), 2) + ", LSM " +
                   TextOfRange(WriteAmps(f, kLsm, benchmarks), 2);
  Decision decision;
  decision.Add("BlobDB", blob, AtMost(published.blob_most), Kind::kPlain, {.high = high});
  decision.Add("leveled", leveled, AtLeast(published.leveled_least), Kind::kPlain, {.low = kFewerLevels});
  decision.Add("universal", universal, AtLeast(published.universal_least), Kind::kPlain, {.low = kFewerLevels});
  return decision.On(claim, kPeersDidNotRun);
}

Claim WriteAmpClaim(const Figures& f, const Claim& claim, const PublishedAmps& published, const std::string& benchmark) {
  const Several blob = WriteAmps(f, kBlob, {benchmark});
  return WriteAmpClaim(f, claim, published, {benchmark}, blob, "BlobDB " + TextOfRange(blob, 2), "");
}

Claim LoadedWriteAmpClaim(const Figures& f) {
  const Several blob =
      OfSizes([&](const std::string& experiment) { return f.WriteAmpOf(LoadOf(experiment), kUncollected, kLoad); });
  return WriteAmpClaim(f,
                       {.id = "A2",
                        .source = "",
                        .text = "write amplification of the initial load, without blob GC",
                        .published = "1.0 to 1.02 with blobs, 1.6 leveled and universal",
                        .criterion = "at each size BlobDB at most 1.02, leveled and universal at least 1.6"},
                       {.blob_most = 1.02, .leveled_least = 1.6, .universal_least = 1.6}, kLoad, blob,
                       "BlobDB " + TextOfRange(blob, 2) + ", with its GC " + TextOfRange(WriteAmps(f, kBlob, kLoad), 2),
                       "tables of keys are compacted during the load; the post's first stage compacted nothing");
}

Claim LoadClaim(const Figures& f) {
  Claim claim{.id = "A6", .source = kSource,
              .text = "the initial load, both stages, is 2.3 to 4.7 times as fast with blobs, without their GC; the "
                      "second stage, compaction, more than 100 times as fast at 1 MB",
              .published = "2.3x to 4.7x; > 100x",
              .criterion = "at least 2.3x at each size, settling included, and 100x of the second stage at 1 MiB"};
  const auto seconds_over_leveled = [&f](const char* engine, const std::string& experiment,
                                         const std::vector<std::string>& stages) {
    return Divide(f.SecondsOf(experiment, kLeveled, stages), f.SecondsOf(experiment, engine, stages));
  };
  const auto over_leveled = [&](const char* engine, const std::string& experiment) {
    return seconds_over_leveled(engine, experiment, kLoad);
  };
  const std::string largest = "blobdb2021, 1 MiB";
  const Rounds second = seconds_over_leveled(kUncollected, LoadOf(largest), {"compact"});
  const auto of_sizes = [&](const char* engine) {
    return TextOfRange(OfSizes([&](const std::string& experiment) { return over_leveled(engine, experiment); }), 1, "x");
  };
  const Several blob = OfSizes([&](const std::string& experiment) { return over_leveled(kUncollected, LoadOf(experiment)); });
  claim.measured = "over leveled: BlobDB " + TextOfRange(blob, 1, "x") + ", with its GC " + of_sizes(kBlob) +
                   "; Cambium tree " + of_sizes(kTree) + ", LSM " + of_sizes(kLsm) + ". Of the second stage at 1 MiB: BlobDB " +
                   Text(second, 0, "x") + ", Cambium tree " +
                   Text(seconds_over_leveled(kTree, largest, {"compact"}), 0, "x") + ", LSM " +
                   Text(seconds_over_leveled(kLsm, largest, {"compact"}), 0, "x");
  Decision decision;
  const Reasons normal = {.low =
                              "here the load has a log and compactions; the post's first stage had "
                              "neither"};
  decision.Add("", blob, AtLeast(2.3), Kind::kSpeed, normal);
  decision.Add("compaction", {{"1 MiB", second}}, AtLeast(100), Kind::kSpeed, normal);
  return decision.On(claim, kLoadersDidNotRun);
}

Claim StallClaim(const Figures& f) {
  Claim claim{.id = "A7",
              .source = kSource,
              .text = "overwrites stall 40 to 70 % of the time without blobs, and not at all with them, except at 1 MB",
              .published = "40 to 70 %; 0 %",
              .criterion = "leveled and universal at least 40 % at each size; BlobDB at most 1 % at each except 1 MiB"};
  const auto stalls = [&](const char* engine) { return OfSizes(f, engine, "overwrite", StallPercent); };
  const Several blob = stalls(kBlob);
  const Several leveled = stalls(kLeveled);
  const Several universal = stalls(kUniversal);
  claim.measured = "leveled " + TextOfRange(leveled, 0, " %") + ", universal " + TextOfRange(universal, 0, " %") +
                   ", BlobDB " + TextOfRange(blob, 0, " %") + "; Cambium tree " + TextOfRange(stalls(kTree), 0, " %") +
                   ", LSM " + TextOfRange(stalls(kLsm), 0, " %");
  Decision decision;
  decision.Add("leveled", leveled, AtLeast(40), Kind::kPlain, {.low = kFewerLevels});
  decision.Add("universal", universal, AtLeast(40), Kind::kPlain, {.low = kFewerLevels});
  decision.Add("BlobDB", Only(blob, [](const std::string& size) { return size != "1 MiB"; }), {.high = 1}, Kind::kPlain);
  return decision.On(claim, "no engine counted stalls");
}

Claim OverwriteClaim(const Figures& f) {
  Claim claim{
      .id = "A8",
      .source = kSource,
      .text =
          "overwrites, without the wait after them, are 2.1 to 3.5 times as fast as with leveled tables, 1.6 to "
          "3.0 times as with universal ones",
      .published = "2.1x to 3.5x; 1.6x to 3.0x",
      .criterion = "at each size at least 2.1x over leveled and 1.6x over universal, while writing"};
  const Several leveled = Ratios(f, kBlob, kLeveled, "overwrite");
  const Several universal = Ratios(f, kBlob, kUniversal, "overwrite");
  const auto wait = [&](const char* engine) { return TextOfRange(OfSizes(f, engine, "overwrite", SettleSeconds), 1, " s"); };
  claim.measured = "BlobDB over leveled " + TextOfRange(leveled, 1, "x") + ", over universal " +
                   TextOfRange(universal, 1, "x") + "; Cambium tree over leveled " +
                   TextOfRange(Ratios(f, kTree, kLeveled, "overwrite"), 1, "x") + ", over BlobDB " +
                   TextOfRange(Ratios(f, kTree, kBlob, "overwrite"), 1, "x") + "; LSM over BlobDB " +
                   TextOfRange(Ratios(f, kLsm, kBlob, "overwrite"), 1, "x") + ". The wait after it: leveled " +
                   wait(kLeveled) + ", universal " + wait(kUniversal) + ", BlobDB " + wait(kBlob) + ", Cambium tree " +
                   wait(kTree) + ", LSM " + wait(kLsm);
  Decision decision;
  const Reasons reasons{.low = "if the data fits into memory, a compaction costs processor time but no reads"};
  decision.Add("over leveled", leveled, AtLeast(2.1), Kind::kSpeed, reasons);
  decision.Add("over universal", universal, AtLeast(1.6), Kind::kSpeed, reasons);
  return decision.On(claim, kPeersDidNotRun);
}

Claim ReadClaim(const Figures& f) {
  Claim claim{.id = "A9",
              .source = kSource,
              .text = "reads are as fast as with leveled tables or faster, except range scans at 1 and 4 KB",
              .published = "up to 1.4x leveled, 5.6x universal",
              .criterion = "over leveled at least 1x, points at each size, scans from 16 KiB on"};
  const Several points = Ratios(f, kBlob, kLeveled, "readrandom");
  const Several scans = Ratios(f, kBlob, kLeveled, "seekrandom");
  claim.measured = "BlobDB over leveled: points " + TextOfRange(points, 2, "x") + ", scans " + TextOfRange(scans, 2, "x") +
                   "; over universal: points " + TextOfRange(Ratios(f, kBlob, kUniversal, "readrandom"), 2, "x") +
                   ", scans " + TextOfRange(Ratios(f, kBlob, kUniversal, "seekrandom"), 2, "x") +
                   "; Cambium tree over leveled: points " + TextOfRange(Ratios(f, kTree, kLeveled, "readrandom"), 2, "x") +
                   ", scans " + TextOfRange(Ratios(f, kTree, kLeveled, "seekrandom"), 2, "x");
  Decision decision;
  decision.Add("points", points, AtLeast(1), Kind::kSpeed);
  decision.Add("scans", Only(scans, [](const std::string& size) { return size != "1 KiB" && size != "4 KiB"; }),
               AtLeast(1), Kind::kSpeed,
               {.low = "a scan reads each blob separately, but the values of a table sequentially"});
  return decision.On(claim, kPeersDidNotRun);
}

}  // namespace

std::vector<Claim> JudgeBlobDb2021(const Figures& f) {
  if (!f.Has("blobdb2021")) return {};
  return {
      LoadedWriteAmpClaim(f),
      WriteAmpClaim(f,
                    {.id = "A3",
                     .source = "",
                     .text = "write amplification of overwrites",
                     .published = "blobs 1.4 to 1.7, leveled 6.1 to 6.8, universal 5.7 to 6.2",
                     .criterion = "at each size BlobDB at most 1.7, leveled at least 6.1, universal at least 5.7"},
                    {.blob_most = 1.7, .leveled_least = 6.1, .universal_least = 5.7}, "overwrite"),
      WriteAmpClaim(f,
                    {.id = "A4",
                     .source = "",
                     .text = "write amplification while points are read",
                     .published = "blobs 1.4 to 1.8, leveled 10.8 to 12.5, universal 2.2 to 6.6",
                     .criterion = "at each size BlobDB at most 1.8, leveled at least 10.8, universal at least 2.2"},
                    {.blob_most = 1.8, .leveled_least = 10.8, .universal_least = 2.2}, "readwhilesyncing"),
      WriteAmpClaim(f,
                    {.id = "A5",
                     .source = "",
                     .text = "write amplification while ranges are read",
                     .published = "blobs 1.4 to 1.8, leveled 13.6 to 14.9, universal 2.8 to 5.0",
                     .criterion = "at each size BlobDB at most 1.8, leveled at least 13.6, universal at least 2.8"},
                    {.blob_most = 1.8, .leveled_least = 13.6, .universal_least = 2.8}, "seekrandomwhilesyncing"),
      LoadClaim(f),
      StallClaim(f),
      OverwriteClaim(f),
      ReadClaim(f),
      NotMeasured({.id = "A10",
                   .source = kSource,
                   .text = "the load is faster than the legacy BlobDB's",
                   .published = "4.6x without a log, 2.3x with one",
                   .criterion = "at least 2.3x, with a log"},
                  "the installed RocksDB no longer has the legacy BlobDB"),
  };
}

}  // namespace cambium::bench
