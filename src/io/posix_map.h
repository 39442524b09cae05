// Mapped files, and how to read them without dying.
//
// A page of a mapped file that cannot be had (the file was cut, the disk is dead) raises SIGBUS in whoever touches it.
// CopyOut must turn that into an IOError. Roads we saw:
//  - A SIGBUS handler that jumps back to a mark of the thread. As fast as memcpy, but one handler per process: who
//    installs another one after us (crash reporters, language runtimes) switches ours off, we may switch theirs off,
//    and in a thread that blocks SIGBUS, as threads that block "all signals" do, the kernel kills without asking any
//    handler. A library cannot rule out either.
//  - MADV_POPULATE_READ, then memcpy: the page may go again between the two.
//  - process_vm_readv on ourselves: safe, but the dearest (it pins each page), and forbidden in some sandboxes.
//  - pread of the same range: the page cache that the mapping shows, copied by the kernel, EIO or a short count
//    instead of a fault.
// Measured, resident file, random offsets, ns for 512 B / 4 KiB / 64 KiB: jump 73 / 333 / 5,087; pread 509 / 853 / 7,104;
// process_vm_readv 1,101 / 1,447 / 8,946 (Linux 6.18, virtual machine, 2 cores). CopyOut is a pread: about half a
// microsecond dearer than a jump, and nothing outside this library can break it. Who wants the bytes without a copy
// reads data(), at the risk that the interface states.
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
