// Decoding by LLVM's MC layer.
//
// LLVM prints "\tmovq\t%rax, %rbx"; we print as objdump lays it out, with the
// mnemonic padded to six columns and no blank after commas, and branch targets
// as plain hexadecimal link addresses: "jne    12a0".

#include "code/decoder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Triple.h>
#include <mutex>
#include <utility>

#include "code/llvm_machinery.h"

namespace culprit {

namespace {

struct Architecture {
  std::string_view name;
  const char* triple;
  const char* features;  // decode everything, whatever the CPU of the guest has
  uint32_t unit_bytes;   // length of what is skipped when decoding fails
  void (*initialise)();
};

void initialise_x86() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86Disassembler();
}

void initialise_aarch64() {
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64Disassembler();
}

constexpr std::array<Architecture, 2> kArchitectures = {
    {{"x86_64", "x86_64-unknown-linux-gnu", "", 1, initialise_x86},
     {"aarch64", "aarch64-unknown-linux-gnu", "+all", 4, initialise_aarch64}}};

/// Instructions that stop a program and are no terminators in LLVM's tables.
bool is_trap(std::string_view opcode_name) {
  static constexpr std::array<std::string_view, 7> kTraps = {"TRAP", "UD1Wr", "HLT", "INT3",
                                                             "INT1", "BRK",   "UDF"};
  return std::find(kTraps.begin(), kTraps.end(), opcode_name) != kTraps.end();
}

Flow flow_of(const llvm::MCInstrDesc& description, std::string_view opcode_name) {
  if (description.isReturn()) return Flow::returns;
  if (description.isCall()) return Flow::call;
  if (description.isTrap() || is_trap(opcode_name)) return Flow::trap;
  if (description.isIndirectBranch()) return Flow::indirect_jump;
  if (description.isBranch()) {
    return description.isConditionalBranch() ? Flow::branch : Flow::jump;
  }
  return Flow::next;
}

/// "\tmovq\t%rax, %rbx" → "movq   %rax,%rbx".
std::string tidy(std::string_view raw) {
  while (!raw.empty() && (raw.front() == '\t' || raw.front() == ' ')) raw.remove_prefix(1);
  while (!raw.empty() && (raw.back() == '\t' || raw.back() == ' ')) raw.remove_suffix(1);
  const size_t gap = raw.find('\t');
  std::string text(raw.substr(0, gap));
  if (gap == std::string_view::npos) return text;
  text.append(text.size() < 6 ? 7 - text.size() : 1, ' ');
  for (size_t at = gap + 1; at < raw.size(); ++at) {
    const bool blank_after_comma = raw[at] == ' ' && raw[at - 1] == ',';
    if (!blank_after_comma) text += raw[at] == '\t' ? ' ' : raw[at];
  }
  return text;
}

/// "jne    0xe" → "jne    12a0": the target is the last operand. LLVM's printer for
/// x86 counts from the start of the instruction, not its end; so its number is replaced.
void write_target(std::string& text, uint64_t target) {
  const size_t operand = text.find_last_of(" ,");
  if (operand != std::string::npos)
    text = fmt::format("{}{:x}", text.substr(0, operand + 1), target);
}

Instruction bad_code(uint64_t address, uint64_t size) {
  Instruction bad;
  bad.address = LinkAddress(address);
  bad.size = static_cast<uint32_t>(size);
  bad.flow = Flow::trap;
  bad.bad = true;
  bad.text = "(bad)";
  return bad;
}

/// "lock" and "cmpxchgl %edx,(%rdi)" → "lock cmpxchgl %edx,(%rdi)".
void prepend_prefix(const Instruction& prefix, Instruction& instruction) {
  instruction.address = prefix.address;
  instruction.size += prefix.size;
  if (!prefix.text.empty()) instruction.text = prefix.text + " " + instruction.text;
}

}  // namespace

struct Decoder::Machinery {
  const Architecture* architecture = nullptr;
  // The order is that of construction: each needs the ones above it.
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<EffectReader> effects;

  Instruction describe(const llvm::MCInst& inst, uint64_t address, uint64_t size,
                       Detail detail) const;
  /// LLVM decodes "lock" and its like as instructions of their own.
  [[nodiscard]] bool is_prefix(const llvm::MCInst& inst) const {
    return instructions->getName(inst.getOpcode()).ends_with("_PREFIX");
  }
};

Decoder::Decoder(std::unique_ptr<Machinery> machinery) : machinery_(std::move(machinery)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<Decoder> Decoder::make(const std::string& architecture, Syntax syntax) {
  const auto known = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                  [&](const Architecture& a) { return a.name == architecture; });
  if (known == kArchitectures.end()) {
    return Error{"cannot decode code for '" + architecture + "' (only x86_64 and aarch64)"};
  }
  static std::array<std::once_flag, kArchitectures.size()> initialised;
  std::call_once(initialised[static_cast<size_t>(known - kArchitectures.begin())],
                 known->initialise);

  const llvm::Triple triple(known->triple);
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple.str(), problem);
  if (target == nullptr) return Error{"this LLVM cannot decode " + architecture + ": " + problem};

  auto m = std::make_unique<Machinery>();
  m->architecture = &*known;
  m->registers.reset(target->createMCRegInfo(triple.str()));
  m->assembly.reset(target->createMCAsmInfo(*m->registers, triple.str(), llvm::MCTargetOptions()));
  m->subtarget.reset(target->createMCSubtargetInfo(triple.str(), "", known->features));
  m->instructions.reset(target->createMCInstrInfo());
  m->context = std::make_unique<llvm::MCContext>(triple, m->assembly.get(), m->registers.get(),
                                                 m->subtarget.get());
  m->disassembler.reset(target->createMCDisassembler(*m->subtarget, *m->context));
  const unsigned variant =
      syntax == Syntax::intel && known->name == "x86_64" ? 1 : m->assembly->getAssemblerDialect();
  m->printer.reset(
      target->createMCInstPrinter(triple, variant, *m->assembly, *m->instructions, *m->registers));
  m->analysis.reset(target->createMCInstrAnalysis(m->instructions.get()));
  if (!m->disassembler || !m->printer || !m->analysis) {
    return Error{"this LLVM has no disassembler for " + architecture};
  }
  m->effects =
      std::make_unique<EffectReader>(known->name == "x86_64", *m->registers, *m->instructions);
  m->printer->setPrintImmHex(true);
  m->printer->setPrintBranchImmAsAddress(true);
  return Decoder(std::move(m));
}

Instruction Decoder::Machinery::describe(const llvm::MCInst& inst, uint64_t address, uint64_t size,
                                         Detail detail) const {
  Instruction result;
  result.address = LinkAddress(address);
  result.size = static_cast<uint32_t>(size);
  const llvm::StringRef name = instructions->getName(inst.getOpcode());
  result.flow = flow_of(instructions->get(inst.getOpcode()), {name.data(), name.size()});

  if (detail == Detail::text) {
    std::string raw;
    llvm::raw_string_ostream stream(raw);
    printer->printInst(&inst, address, "", *subtarget, stream);
    result.text = tidy(raw);
  }

  const bool direct =
      result.flow == Flow::jump || result.flow == Flow::branch || result.flow == Flow::call;
  uint64_t target = 0;
  if (direct && analysis->evaluateBranch(inst, address, size, target)) {
    result.target = LinkAddress(target);
    if (detail == Detail::text) write_target(result.text, target);
  } else if (result.flow == Flow::jump) {
    result.flow = Flow::indirect_jump;
  }
  if (detail == Detail::flow) return result;
  if (const auto data =
          analysis->evaluateMemoryOperandAddress(inst, subtarget.get(), address, size)) {
    result.data_address = LinkAddress(*data);
  }
  return result;
}

std::vector<Instruction> Decoder::decode(std::string_view code, LinkAddress start,
                                         Detail detail) const {
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  std::vector<Instruction> decoded;
  decoded.reserve(code.size() / 4 + 1);
  bool after_prefix = false;  // decoded.back() is a prefix of what comes next
  for (size_t at = 0; at < code.size();) {
    const uint64_t address = start.value + at;
    llvm::MCInst inst;
    uint64_t size = 0;
    const llvm::ArrayRef<uint8_t> rest(bytes + at, code.size() - at);
    const auto status =
        machinery_->disassembler->getInstruction(inst, size, rest, address, llvm::nulls());
    const bool good = status == llvm::MCDisassembler::Success && size > 0 && size <= rest.size();
    if (!good) size = std::min<size_t>(machinery_->architecture->unit_bytes, rest.size());
    at += size;
    Instruction next =
        good ? machinery_->describe(inst, address, size, detail) : bad_code(address, size);
    if (good && after_prefix) {
      prepend_prefix(decoded.back(), next);
      decoded.pop_back();
    }
    after_prefix = good && machinery_->is_prefix(inst);
    decoded.push_back(std::move(next));
  }
  return decoded;
}

std::vector<Effect> Decoder::read_effects(std::string_view code,
                                          const std::vector<Instruction>& instructions) const {
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  std::vector<Effect> effects(instructions.size());
  if (instructions.empty()) return effects;
  const LinkAddress start = instructions.front().address;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& one = instructions[i];
    const uint64_t offset = one.address - start;
    if (one.bad || offset >= code.size() || one.size > code.size() - offset) continue;
    // Prefixes, which stand alone in LLVM's eyes, belong to the instruction behind them.
    for (uint64_t at = offset; at < offset + one.size;) {
      llvm::MCInst inst;
      uint64_t size = 0;
      const llvm::ArrayRef<uint8_t> rest(bytes + at, offset + one.size - at);
      if (machinery_->disassembler->getInstruction(
              inst, size, rest, start.value + at, llvm::nulls()) != llvm::MCDisassembler::Success ||
          size == 0) {
        break;
      }
      effects[i] = machinery_->effects->read(inst, LinkAddress(start.value + at),
                                             static_cast<uint32_t>(size));
      at += size;
    }
  }
  return effects;
}

}  // namespace culprit
