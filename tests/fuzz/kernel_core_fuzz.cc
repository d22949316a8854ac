// Any bytes as the head of a core file of the kernel: nothing may crash or read outside, and no
// segment that is told wraps around.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "snapshot/kernel_code.h"

using namespace culprit;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const auto segments = parse_kernel_segments(std::as_bytes(std::span(data, size_bytes)));
  if (!segments) return 0;
  for (const KernelSegment& one : *segments) {
    CHECK(one.size_bytes > 0);
    CHECK(one.address <= UINT64_MAX - one.size_bytes);
    CHECK(one.offset <= uint64_t{INT64_MAX} - one.size_bytes);
  }
  return 0;
}
