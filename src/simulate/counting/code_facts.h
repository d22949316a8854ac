#pragma once

// What must be known of an instruction when it is translated: whether and how it
// branches, whether it works on floating-point values, what it accesses. A light decoder of
// opcodes, not of operands: the engine says how long an instruction is, and where it accesses
// memory.

#include <cstdint>
#include <span>
#include <string_view>

#include "simulate/counting/known_accesses.h"
#include "simulate/counts/counts_file.h"

namespace culprit::counting {

struct CodeFacts {
  counts_file::ControlFlow branch = counts_file::ControlFlow::none;
  uint8_t flags = 0;
  int32_t displacement = 0;  // of a direct branch: its target, from its own address on
  KnownAccesses accesses;
};

CodeFacts decode_x86_64(std::span<const uint8_t> code);
CodeFacts decode_aarch64(std::span<const uint8_t> code);

using DecodeFunction = CodeFacts (*)(std::span<const uint8_t>);
/// `target`: "x86_64", "aarch64"; nullptr if there is no decoder for it.
DecodeFunction find_decoder(std::string_view target);

}  // namespace culprit::counting
