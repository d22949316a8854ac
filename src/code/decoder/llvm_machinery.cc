#include "code/decoder/llvm_machinery.h"

#include <algorithm>
#include <array>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <mutex>
#include <string>
#include <utility>

namespace culprit {
namespace {

constexpr std::array<CodeTarget, 2> kTargets = {
    {{"x86_64", "x86_64-unknown-linux-gnu", "", 1, true,
      [] {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86Disassembler();
      }},
     {"aarch64", "aarch64-unknown-linux-gnu", "+all", 4, false, [] {
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64Disassembler();
      }}}};

/// LLVM shows a repeat prefix of x86 by no other instruction.
bool has_repeat_prefix(std::span<const uint8_t> code) {
  constexpr std::string_view kPrefixes = "\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0";
  for (const uint8_t byte : code) {
    if (byte == 0xf2 || byte == 0xf3) return true;
    if (kPrefixes.find(static_cast<char>(byte)) == std::string_view::npos) return false;
  }
  return false;
}

}  // namespace

const CodeTarget* find_code_target(std::string_view name) {
  const auto* const found = std::find_if(kTargets.begin(), kTargets.end(),
                                         [&](const CodeTarget& one) { return one.name == name; });
  return found == kTargets.end() ? nullptr : found;
}

Result<const llvm::Target*> start_llvm(const CodeTarget& target) {
  static std::array<std::once_flag, kTargets.size()> started;
  std::call_once(started[static_cast<size_t>(&target - kTargets.data())], target.initialise);
  std::string problem;
  const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (found == nullptr) {
    return Error{"this LLVM cannot decode " + std::string(target.name) + ": " + problem};
  }
  return found;
}

Result<std::unique_ptr<LlvmMachinery>> LlvmMachinery::make(const CodeTarget& code_target) {
  ASSIGN_OR_RETURN(const llvm::Target* const target, start_llvm(code_target));
  const llvm::Triple triple(code_target.triple);
  std::unique_ptr<llvm::MCRegisterInfo> registers(target->createMCRegInfo(triple.str()));
  std::unique_ptr<llvm::MCAsmInfo> assembly(
      target->createMCAsmInfo(*registers, triple.str(), llvm::MCTargetOptions()));
  std::unique_ptr<llvm::MCSubtargetInfo> features(
      target->createMCSubtargetInfo(triple.str(), "", code_target.features));
  auto context =
      std::make_unique<llvm::MCContext>(triple, assembly.get(), registers.get(), features.get());
  std::unique_ptr<llvm::MCDisassembler> disassembler(
      target->createMCDisassembler(*features, *context));
  if (!disassembler) {
    return Error{"this LLVM has no disassembler for " + std::string(code_target.name)};
  }
  RegisterTable table(code_target.is_x86, *registers);
  return std::unique_ptr<LlvmMachinery>(new LlvmMachinery{
      &code_target, target, std::move(registers), std::move(assembly), std::move(features),
      std::unique_ptr<llvm::MCInstrInfo>(target->createMCInstrInfo()), std::move(context),
      std::move(disassembler), std::move(table)});
}

std::optional<DecodedInstruction> LlvmMachinery::decode(std::span<const uint8_t> code,
                                                        uint64_t address) const {
  std::optional<DecodedInstruction> one(std::in_place);
  const auto status = disassembler->getInstruction(one->inst, one->size, {code.data(), code.size()},
                                                   address, llvm::nulls());
  if (status != llvm::MCDisassembler::Success || one->size == 0 || one->size > code.size()) {
    one.reset();
    return one;
  }
  one->facts = &instructions->get(one->inst.getOpcode());
  const llvm::StringRef name = instructions->getName(one->inst.getOpcode());
  one->name = {name.data(), name.size()};
  one->is_locked = one->name == "LOCK_PREFIX";
  one->repeats = code_target->is_x86 && has_repeat_prefix(code.first(one->size));
  return one;
}

std::optional<DecodedInstruction> LlvmMachinery::decode_whole(std::span<const uint8_t> code,
                                                              uint64_t address) const {
  std::optional<DecodedInstruction> one = decode(code, address);
  while (one && one->is_prefix() && one->size < code.size()) {
    std::optional<DecodedInstruction> next = decode(code.subspan(one->size), address + one->size);
    if (next) next->join(*one);
    one = std::move(next);
  }
  return one;
}

}  // namespace culprit
