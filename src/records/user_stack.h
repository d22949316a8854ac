#pragma once

// A sample's user stack, when the kernel copied registers and stack instead of
// walking it: what whoever walks such a copy needs and returns. Room `unwind` walks
// them (it needs elfutils); `collect`, which must do without, is given an UnwindStack.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/file.h"
#include "model/ledger.h"
#include "records/address_spaces.h"
#include "records/callchain.h"
#include "records/record.h"

namespace culprit {

/// Why a walk ended where it ended.
enum class UnwindStop : uint8_t {
  end_of_stack,           // all frames are there
  depth_limit,            // kMostUnwoundFrames
  outside_copy,           // the next frame is beyond the copied part, or on another stack
  no_unwind_information,  // no .eh_frame or .debug_frame covers the last frame: JIT code, a
                          // stripped runtime, a file that cannot be read
  damaged,                // the stack, the registers or the tables contradict themselves
  unsupported,            // a 32-bit program, or an architecture that we cannot unwind
  no_registers            // the kernel gave none: a task without user code
};

constexpr size_t kMostUnwoundFrames = 1024;

/// `frames`: innermost first, as split_callchain() makes them; the first one is where the
/// registers were taken.
struct UnwoundStack {
  std::vector<CallFrame> frames;
  UnwindStop stop = UnwindStop::end_of_stack;
};

/// What the ledger calls a stack that ended so; nullptr: nothing is missing.
const LedgerKind* find_stop_kind(UnwindStop stop);

/// The bytes of a mapped file, as a descriptor to read from (it may be shared or a memfd);
/// nullopt: it cannot be had.
using OpenMappedFile = std::function<std::optional<Fd>(uint32_t pid, const Mapping& mapping)>;

/// Walks one stack copy of process `pid`: `stack` begins at the stack pointer.
using UnwindStack =
    std::function<UnwoundStack(uint32_t pid, const AddressSpaces& spaces,
                               const RegisterDump& registers, std::span<const std::byte> stack)>;

/// The call stack of a sample, innermost first; the first frame is the sampled address. With
/// an `unwind`, user code's part comes from the copied stack, and what cut it goes into the
/// ledger; without one (empty) all of it comes from the callchain.
std::vector<CallFrame> list_frames(const SampleRecord& sample, uint32_t pid,
                                   const AddressSpaces& spaces, const UnwindStack& unwind,
                                   Ledger& ledger);

using MakeUnwindStack = std::function<UnwindStack(OpenMappedFile)>;

}  // namespace culprit
