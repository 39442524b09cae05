#include "index/read_bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "util/result.h"

namespace cambium {
namespace {

struct DirectMemory {
  explicit DirectMemory(std::size_t size)
      : data(static_cast<char*>(::operator new(size, std::align_val_t{kDirectAlignment}))) {}
  ~DirectMemory() { ::operator delete(data, std::align_val_t{kDirectAlignment}); }
  DirectMemory(const DirectMemory&) = delete;
  DirectMemory& operator=(const DirectMemory&) = delete;
  char* const data;
};

}  // namespace

Status ReadBytes(const File& file, std::uint64_t offset, std::size_t n, char* out, std::size_t* read) {
  if (!file.IsDirect()) return file.Read(offset, n, out, read);
  const std::uint64_t begin = offset / kDirectAlignment * kDirectAlignment;
  const std::uint64_t end = (offset + n + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
  DirectMemory memory(end - begin);
  std::size_t got = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(begin, end - begin, memory.data, &got));
  const std::size_t skipped = offset - begin;
  *read = got <= skipped ? 0 : std::min(n, got - skipped);
  std::memcpy(out, memory.data + skipped, *read);
  return Status::OK();
}

}  // namespace cambium
