// cambium_kernels: measures the parts of Cambium one by one. docs/PERFORMANCE.md has figures and what bounds them.
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

int RunKernels() {
  // While a process has never had a second thread, the C library avoids atomics in locks and reference counts. A
  // process with a database has had more threads.
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
  const int code = cambium::bench::RunKernels();
  benchmark::Shutdown();
  return code;
}
