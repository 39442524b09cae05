// Maps files, and copies from them so that a missing page is an error, not the end of the process.
//
// A page of a mapped file that cannot be read (the file was truncated, the disk is dead) raises SIGBUS in the thread
// that touches it. CopyOut must turn that into an IOError. It copies under a guard (guarded_copy.h). If the guard does
// not hold, or a page was missing, it reads the same range from the file, which gives EIO or a short count instead of a
// fault. Alternatives that we rejected:
//  - A handler that jumps back with siglongjmp: it skips the destructors of C++ frames, and needs a sigsetjmp per copy.
//  - MADV_POPULATE_READ, then memcpy: the page may be evicted between the two.
//  - process_vm_readv on ourselves: safe, but the most expensive (it pins each page), and forbidden in some sandboxes.
// A caller that wants the bytes without a copy reads data(), at the risk that MappedRegion states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/posix_descriptor.h"

namespace cambium {

// The most regions that the process maps at a time, in all databases. The kernel allows 65,530 mappings by default
// (vm.max_map_count), and once they are used up, the program's own allocations fail.
inline constexpr std::size_t kMappedRegionsMax = 8192;

// Maps [offset, offset + length) of the file that is open in `file`; the region keeps it open. The range may reach
// beyond the end of the file; those bytes fault. Length 0 gives an empty region. Returns NotSupported if the file
// system cannot map files, if copies cannot be guarded here, if the address space of the process is limited
// (RLIMIT_AS), or if kMappedRegionsMax regions are mapped.
Status MapFile(std::shared_ptr<const PosixDescriptor> file, const std::string& path, std::uint64_t offset,
               std::size_t length, std::unique_ptr<MappedRegion>* region);

}  // namespace cambium
