// SPDX-License-Identifier: GPL-2.0-only
// How much of the machine's memory is in use.
#pragma once

#include <cstddef>
#include <istream>

namespace srnbench {

// Bytes that neither are free nor hold a file's contents, by what /proc/meminfo and /proc/zoneinfo
// say; pages that a CPU keeps at hand are free, and there may be thousands of them. Unlike
// MemAvailable it counts what the kernel calls reclaimable, which inodes in use are, too. Throws
// std::runtime_error for what is neither of these files.
double MemoryInUse(std::istream& meminfo, std::istream& zoneinfo, size_t page_bytes);

// The same of this machine, now.
double MemoryInUse();

// Bytes of a program that lie in huge pages, by its /proc/PID/smaps_rollup. Throws
// std::runtime_error for what is no such file.
double HugeBytes(std::istream& smaps_rollup);

// The same of this program, now.
double HugeBytes();

}  // namespace srnbench
