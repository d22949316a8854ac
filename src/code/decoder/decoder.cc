// Decoding by LLVM's MC layer.
//
// LLVM prints "\tmovq\t%rax, %rbx"; we print as objdump lays it out, with the
// mnemonic padded to six columns and no blank after commas, and branch targets
// as plain hexadecimal link addresses: "jne    12a0".

#include "code/decoder/decoder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>
#include <utility>

#include "code/decoder/effect_reader.h"
#include "code/decoder/llvm_machinery.h"
#include "code/decoder/operand_reader.h"

namespace culprit {

namespace {

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

}  // namespace

struct Decoder::Parts {
  std::unique_ptr<LlvmMachinery> machinery;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;

  [[nodiscard]] Instruction describe(const DecodedInstruction& decoded, uint64_t address,
                                     Detail detail) const;
};

Decoder::Decoder(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<Decoder> Decoder::make(const std::string& architecture, Syntax syntax) {
  const CodeTarget* const known = find_code_target(architecture);
  if (known == nullptr) {
    return Error{"cannot decode code for '" + architecture + "' (only x86_64 and aarch64)"};
  }
  auto parts = std::make_unique<Parts>();
  ASSIGN_OR_RETURN(parts->machinery, LlvmMachinery::make(*known));
  const LlvmMachinery& m = *parts->machinery;
  const unsigned variant =
      syntax == Syntax::intel && known->is_x86 ? 1 : m.assembly->getAssemblerDialect();
  parts->printer.reset(m.target->createMCInstPrinter(llvm::Triple(known->triple), variant,
                                                     *m.assembly, *m.instructions, *m.registers));
  parts->analysis.reset(m.target->createMCInstrAnalysis(m.instructions.get()));
  if (!parts->printer || !parts->analysis) {
    return Error{"this LLVM has no disassembler for " + architecture};
  }
  parts->printer->setPrintImmHex(true);
  parts->printer->setPrintBranchImmAsAddress(true);
  return Decoder(std::move(parts));
}

Instruction Decoder::Parts::describe(const DecodedInstruction& decoded, uint64_t address,
                                     Detail detail) const {
  Instruction result;
  result.address = LinkAddress(address);
  result.size = static_cast<uint32_t>(decoded.size);
  result.flow = flow_of(*decoded.facts, decoded.name);

  if (detail == Detail::text) {
    std::string raw;
    llvm::raw_string_ostream stream(raw);
    printer->printInst(&decoded.inst, address, "", *machinery->features, stream);
    result.text = tidy(raw);
  }

  const bool direct =
      result.flow == Flow::jump || result.flow == Flow::branch || result.flow == Flow::call;
  uint64_t target = 0;
  if (direct && analysis->evaluateBranch(decoded.inst, address, decoded.size, target)) {
    result.target = LinkAddress(target);
    if (detail == Detail::text) write_target(result.text, target);
  } else if (result.flow == Flow::jump) {
    result.flow = Flow::indirect_jump;
  }
  if (detail == Detail::flow) return result;
  result.operands = read_operands(decoded, *machinery);
  if (const auto data = analysis->evaluateMemoryOperandAddress(
          decoded.inst, machinery->features.get(), address, decoded.size)) {
    result.data_address = LinkAddress(*data);
  }
  return result;
}

std::vector<Instruction> Decoder::decode(std::string_view code, LinkAddress start,
                                         Detail detail) const {
  const LlvmMachinery& machinery = *parts_->machinery;
  const std::span bytes(reinterpret_cast<const uint8_t*>(code.data()), code.size());
  std::vector<Instruction> decoded;
  decoded.reserve(code.size() / 4 + 1);
  std::optional<DecodedInstruction> prefix;  // decoded.back(), which belongs to what comes next
  for (size_t at = 0; at < bytes.size();) {
    uint64_t address = start.value + at;
    std::optional<DecodedInstruction> one = machinery.decode(bytes.subspan(at), address);
    if (!one) {
      const size_t size = std::min<size_t>(machinery.code_target->unit_bytes, bytes.size() - at);
      decoded.push_back(bad_code(address, size));
      prefix.reset();
      at += size;
      continue;
    }
    at += one->size;
    std::string text_before;
    if (prefix) {
      one->join(*prefix);
      address = decoded.back().address.value;
      text_before = std::move(decoded.back().text);
      decoded.pop_back();
    }
    decoded.push_back(parts_->describe(*one, address, detail));
    // "lock" and "cmpxchgl %edx,(%rdi)" are "lock cmpxchgl %edx,(%rdi)".
    if (!text_before.empty()) decoded.back().text.insert(0, text_before + " ");
    if (one->is_prefix()) {
      prefix = std::move(one);
    } else {
      prefix.reset();
    }
  }
  return decoded;
}

std::vector<Effect> Decoder::read_effects(std::string_view code,
                                          const std::vector<Instruction>& instructions) const {
  const LlvmMachinery& machinery = *parts_->machinery;
  const std::span bytes(reinterpret_cast<const uint8_t*>(code.data()), code.size());
  std::vector<Effect> effects(instructions.size());
  if (instructions.empty()) return effects;
  const LinkAddress start = instructions.front().address;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const Instruction& one = instructions[i];
    const uint64_t offset = one.address - start;
    if (one.bad || offset >= code.size() || one.size > code.size() - offset) continue;
    const auto decoded = machinery.decode_whole(bytes.subspan(offset, one.size), one.address.value);
    if (decoded) effects[i] = read_effect(*decoded, one.address, machinery);
  }
  return effects;
}

}  // namespace culprit
