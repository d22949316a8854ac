#pragma once

// LLVM's parts that decode one architecture, for code/decoder and code/costs only.

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "code/decoder/registers.h"

namespace culprit {

/// An architecture whose code can be decoded.
struct CodeTarget {
  std::string_view name;  // as in ImageFacts, and as QEMU has it
  const char* triple;
  const char* features;  // decode everything, whatever the CPU of the guest has
  uint32_t unit_bytes;   // length of what is skipped when decoding fails
  bool is_x86;
  void (*initialise)();
};
/// nullptr for other architectures.
const CodeTarget* find_code_target(std::string_view name);
/// What LLVM has of it, which is started by the first call.
Result<const llvm::Target*> start_llvm(const CodeTarget& target);

/// One decoded instruction, with LLVM's facts about its kind.
struct DecodedInstruction {
  llvm::MCInst inst;
  const llvm::MCInstrDesc* facts = nullptr;
  std::string_view name;  // of the opcode, as LLVM has it: "ADD64rm"
  uint64_t size = 0;      // bytes
  bool is_locked = false;
  bool repeats = false;  // it has a rep prefix

  /// LLVM decodes "lock" and its like as instructions of their own.
  [[nodiscard]] bool is_prefix() const { return name.ends_with("_PREFIX"); }
  /// This is what stands behind `prefix`, which belongs to it.
  void join(const DecodedInstruction& prefix) {
    size += prefix.size;
    is_locked = is_locked || prefix.is_locked;
    repeats = repeats || prefix.repeats;
  }
};

struct LlvmMachinery {
  const CodeTarget* code_target;
  const llvm::Target* target;
  // The order is that of construction: each needs the ones above it.
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> features;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  RegisterTable register_table;

  static Result<std::unique_ptr<LlvmMachinery>> make(const CodeTarget& code_target);
  /// What begins `code`: an instruction, or a prefix of one. Nothing, if that is none.
  [[nodiscard]] std::optional<DecodedInstruction> decode(std::span<const uint8_t> code,
                                                         uint64_t address) const;
  /// The instruction that begins `code`, with its prefixes.
  [[nodiscard]] std::optional<DecodedInstruction> decode_whole(std::span<const uint8_t> code,
                                                               uint64_t address) const;
};

}  // namespace culprit
