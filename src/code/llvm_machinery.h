#pragma once

// LLVM's parts that decode one architecture, for decoder.cc and effects.cc only.

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <memory>
#include <vector>

#include "code/decoder.h"
#include "code/effects.h"

namespace culprit {

/// A general register as one of kGeneralRegisters, or none of them.
struct RegisterPart {
  uint8_t reg = kNoRegister;
  uint8_t bits = 0;
  bool is_high_byte = false;  // ah, bh, ch, dh
  bool is_zero = false;       // xzr, wzr
  bool is_counter = false;    // rip
  bool is_flags = false;
};

struct EffectReader {
  bool is_x86 = true;
  const llvm::MCInstrInfo* instructions = nullptr;
  std::vector<RegisterPart> parts;  // by LLVM's register number

  EffectReader(bool x86, const llvm::MCRegisterInfo& registers,
               const llvm::MCInstrInfo& instructions);
  [[nodiscard]] Effect read(const llvm::MCInst& inst, LinkAddress address, uint32_t size) const;
};

}  // namespace culprit
