// cambium_kernels: what the parts of Cambium cost, one by one. docs/PERFORMANCE.md has figures and what binds them.
//
//   cambium_kernels --benchmark_filter='^MemTable' --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// Files are in $TMPDIR, or /tmp. Keys, values and their order are the same in every run.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <thread>

#include "prepared.h"
#include "system/environment.h"
#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

void TellEnvironment() {
  const Environment e = DescribeEnvironment(testing::TempDirectory().path());
  benchmark::AddCustomContext("commit", e.commit + " (" + e.build + ")");
  benchmark::AddCustomContext("cpu", e.cpu);
  benchmark::AddCustomContext("memory", e.memory);
  benchmark::AddCustomContext("kernel", e.kernel);
  benchmark::AddCustomContext("files", e.file_system);
}

int Run() {
  // As long as a process has had one thread only, the C library spares locks and counts of references their atomics. A
  // process with a database in it has had more.
  std::thread([] {}).join();
  try {
    TellEnvironment();
    const std::size_t matched = benchmark::RunSpecifiedBenchmarks();
    PreparedThing::Instance().Clear();
    return matched == 0 ? 1 : 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cambium_kernels: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace cambium::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  const int code = cambium::bench::Run();
  benchmark::Shutdown();
  return code;
}
