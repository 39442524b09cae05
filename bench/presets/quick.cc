#include "presets/presets.h"

namespace cambium::bench {

std::vector<PresetRun> QuickRuns(double scale) {
  return {{"quick",
           {Flag("num", Scaled(65'536, scale, 100)), "--value_size=1024", "--engine=all", "--index=both", "--seek_nexts=10",
            "--benchmarks=filluniquerandom,overwrite,readrandom,readseq,seekrandom,deleterandom,verify"}}};
}

}  // namespace cambium::bench
