// Random reads of 1 KiB from a file in the page cache: in batches through each read queue, and one by one.
#include <benchmark/benchmark.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "io/thread_read_queue.h"
#include "io/uring_read_queue.h"
#include "prepared.h"
#include "require.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kReadBytes = 1 << 10;
constexpr std::size_t kOffsets = 1 << 16;

struct WarmFile {
  explicit WarmFile(std::uint64_t mib) {
    Require(FileSystem::Default()->Open(directory.File("warm"), OpenMode::kCreateNew, {}, &file));
    const std::string part = Prng(8).Bytes(std::size_t{1} << 20);
    for (std::uint64_t i = 0; i < mib; ++i) Require(file->Write(i << 20, part));
    Require(file->SyncData());
    Prng prng(kOffsets);
    offsets.resize(kOffsets);
    // Records begin at multiples of 8.
    for (std::uint64_t& offset : offsets) offset = prng.Uniform(((mib << 20) - kReadBytes) / 8) * 8;
  }
  const testing::TempDirectory directory;
  std::unique_ptr<File> file;
  std::vector<std::uint64_t> offsets;
};

// A batch of reads, and the memory for them.
class Batch {
 public:
  Batch(const WarmFile& warm, std::size_t reads)
      : warm_(warm), requests_(reads), pointers_(reads), memory_(reads * kReadBytes, '\0') {
    for (std::size_t i = 0; i < reads; ++i) {
      requests_[i].file = warm.file.get();
      requests_[i].size = kReadBytes;
      requests_[i].out = memory_.data() + i * kReadBytes;
      pointers_[i] = &requests_[i];
    }
  }
  // Returns the requests with the next offsets.
  std::span<ReadRequest* const> Next() {
    for (ReadRequest& request : requests_) {
      request.offset = warm_.offsets[at_++ % kOffsets];
      request.read = 0;
    }
    return pointers_;
  }
  void Check() const {
    for (const ReadRequest& request : requests_) {
      Require(request.status);
      Require(request.read == kReadBytes, "a read came back short");
    }
  }

 private:
  const WarmFile& warm_;
  std::vector<ReadRequest> requests_;
  std::vector<ReadRequest*> pointers_;
  std::string memory_;
  std::size_t at_ = 0;
};

void CountReads(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(kReadBytes));
}

// range: reads in a batch, MiB of the file.
void QueueReads(benchmark::State& state, bool use_io_uring) {
  const auto reads = static_cast<std::size_t>(state.range(0));
  if (use_io_uring && !IoUringWorks()) {
    state.SkipWithError("this machine refuses io_uring");
    return;
  }
  Batch batch(Prepared<WarmFile>(state.range(1)), reads);
  const auto queue = use_io_uring ? NewUringReadQueue(32) : NewThreadReadQueue(32);
  std::vector<ReadRequest*> done;
  for (auto _ : state) {
    Require(queue->Submit(batch.Next()));
    done.clear();
    while (done.size() < reads) Require(queue->Wait(&done));
    batch.Check();
  }
  CountReads(state);
}

void SingleReads(benchmark::State& state) {
  const WarmFile& warm = Prepared<WarmFile>(state.range(1));
  Batch batch(warm, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (ReadRequest* request : batch.Next()) {
      request->status = warm.file->Read(request->offset, request->size, request->out, &request->read);
    }
    batch.Check();
  }
  CountReads(state);
}

void ReadSizes(benchmark::internal::Benchmark* kernel) {
  kernel->ArgNames({"batch", "mib"})->ArgsProduct({{1, 10, 32}, {1, 256}})->UseRealTime();
}
BENCHMARK(SingleReads)->Name("ReadQueue/none")->Apply(ReadSizes);
BENCHMARK_CAPTURE(QueueReads, threads, false)->Name("ReadQueue/threads")->Apply(ReadSizes);
BENCHMARK_CAPTURE(QueueReads, io_uring, true)->Name("ReadQueue/io_uring")->Apply(ReadSizes);

}  // namespace
}  // namespace cambium::bench
