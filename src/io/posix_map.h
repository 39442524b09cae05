// Mapped files, and how to read them without dying.
//
// A page of a mapped file that cannot be had (the file was cut, the disk is dead) raises SIGBUS in whoever touches it.
// CopyOut must turn that into an IOError. It copies under a guard (guarded_copy.h), and where the guard does not hold, or
// a page was missing, reads the same range from the file: EIO or a short count instead of a fault. Others we saw:
//  - A handler that jumps back to a mark of the thread (siglongjmp): leaves frames of C++ without their destructors, and
//    a mark has to be made for each copy.
//  - MADV_POPULATE_READ, then memcpy: the page may go again between the two.
//  - process_vm_readv on ourselves: safe, but the dearest (it pins each page), and forbidden in some sandboxes.
// Who wants the bytes without a copy reads data(), at the risk that the interface states.
#pragma once

#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/posix_descriptor.h"

namespace cambium {

// Maps [offset, offset + length) of a file that is open in `file`, which the region keeps open. The range may reach
// beyond the end of the file; those bytes fault. Length 0 gives a region of no bytes. NotSupported where the file
// system does not map.
Status MapFile(std::shared_ptr<const PosixDescriptor> file, const std::string& path, std::uint64_t offset,
               std::size_t length, std::unique_ptr<MappedRegion>* region);

}  // namespace cambium
