#include "simulate/costs/cost_model.h"

#include <algorithm>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSchedule.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Triple.h>
#include <numeric>
#include <optional>
#include <vector>

#include "simulate/costs/classes.h"
#include "simulate/costs/operands.h"
#include "simulate/costs/special_costs.h"

namespace culprit::simulate {
namespace {

struct Target {
  std::string_view name;  // as QEMU has it
  const char* triple;
  const char* cpu;      // if none is named
  const char* divider;  // whose divider a model without one gets; nullptr: nobody's
  void (*initialise)();
};
constexpr Target kTargets[] = {
    {"x86_64", "x86_64-unknown-linux-gnu", "x86-64-v3", "icelake-server",
     [] {
       LLVMInitializeX86TargetInfo();
       LLVMInitializeX86TargetMC();
       LLVMInitializeX86Disassembler();
     }},
    {"aarch64", "aarch64-unknown-linux-gnu", "neoverse-n1", nullptr,
     [] {
       LLVMInitializeAArch64TargetInfo();
       LLVMInitializeAArch64TargetMC();
       LLVMInitializeAArch64Disassembler();
     }},
};

const Target* find_target(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                         [&](const Target& one) { return one.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

bool is_cpu_of(const Target& target, const std::string& cpu) {
  target.initialise();
  std::string problem;
  const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (found == nullptr) return false;
  const std::unique_ptr<llvm::MCSubtargetInfo> features(
      found->createMCSubtargetInfo(target.triple, "", ""));
  return features->isCPUStringValid(cpu);
}

/// `asked`, or a common CPU of the target; "": nobody knows it.
std::string choose_cpu(const Target& target, const std::string& asked) {
  if (asked.empty()) return target.cpu;
  if (is_cpu_of(target, asked)) return asked;
  const bool is_of_another = std::any_of(std::begin(kTargets), std::end(kTargets),
                                         [&](const Target& one) { return is_cpu_of(one, asked); });
  return is_of_another ? target.cpu : "";
}

}  // namespace

struct CostModel::Machinery {
  // The order is that of construction: each needs the ones above it.
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCSubtargetInfo> features;  // of all that there is to decode
  std::unique_ptr<llvm::MCSubtargetInfo> cpu;
  std::unique_ptr<llvm::MCSubtargetInfo> divider;  // whose divider stands in; may be nullptr
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::optional<RegisterNumbers> numbers;
  std::vector<unsigned> alike;  // by opcode: whose costs it has
  bool has_classes = false;     // of instructions
  InstructionTimings timings;

  [[nodiscard]] const llvm::MCSchedModel& model() const { return cpu->getSchedModel(); }
  void find_alike_opcodes(std::string_view cpu_name);
  bool decode(std::span<const uint8_t> code, llvm::MCInst* inst, bool* is_locked) const;
  const llvm::MCSchedClassDesc* find_class(const llvm::MCSubtargetInfo& of,
                                           const llvm::MCInst& inst) const;
  void add_class_costs(const llvm::MCSchedClassDesc& kind, const Decoded& instruction,
                       InstructionCosts& costs) const;
  [[nodiscard]] unsigned find_load_latency(const llvm::MCSchedClassDesc& kind) const;
  [[nodiscard]] double divider_cycles(const llvm::MCInst& inst,
                                      const llvm::MCSchedClassDesc& kind) const;
};

using Writes = std::span<const llvm::MCWriteProcResEntry>;

Writes resources(const llvm::MCSubtargetInfo& of, const llvm::MCSchedClassDesc& kind) {
  return {of.getWriteProcResBegin(&kind), of.getWriteProcResEnd(&kind)};
}

/// How long an instruction keeps a resource busy, as if all its units shared the work.
double cycles_on(const llvm::MCSubtargetInfo& of, const llvm::MCWriteProcResEntry& write) {
  const double cycles = write.ReleaseAtCycle - write.AcquireAtCycle;
  return cycles / std::max(1U, of.getSchedModel().getProcResource(write.ProcResourceIdx)->NumUnits);
}

double longest_use(const llvm::MCSubtargetInfo& of, const llvm::MCSchedClassDesc& kind) {
  double longest = 0;
  for (const llvm::MCWriteProcResEntry& write : resources(of, kind)) {
    longest = std::max(longest, cycles_on(of, write));
  }
  return longest;
}

void CostModel::Machinery::find_alike_opcodes(std::string_view cpu_name) {
  const auto name_of = [&](unsigned opcode) {
    const llvm::StringRef name = instructions->getName(opcode);
    return std::string_view(name.data(), name.size());
  };
  alike.resize(instructions->getNumOpcodes());
  std::iota(alike.begin(), alike.end(), 0U);
  for (unsigned i = 0; i < alike.size(); ++i) {
    const std::string_view other = find_alike(cpu_name, name_of(i));
    if (other == name_of(i)) continue;
    while (name_of(alike[i]) != other) alike[i] = (alike[i] + 1) % instructions->getNumOpcodes();
  }
}

/// A prefix (lock, rep) is one of LLVM's instructions, and the same that follows it is another.
bool CostModel::Machinery::decode(std::span<const uint8_t> code, llvm::MCInst* inst,
                                  bool* is_locked) const {
  for (;;) {
    uint64_t size = 0;
    const auto status =
        disassembler->getInstruction(*inst, size, {code.data(), code.size()}, 0, llvm::nulls());
    if (status == llvm::MCDisassembler::Fail || size == 0 || size > code.size()) return false;
    code = code.subspan(size);
    const llvm::StringRef name = instructions->getName(inst->getOpcode());
    if (code.empty() || !name.ends_with("_PREFIX")) return true;
    *is_locked = *is_locked || name == "LOCK_PREFIX";
    inst->clear();
  }
}

/// LLVM shows a repeat prefix of x86 by no other instruction.
bool has_repeat_prefix(std::span<const uint8_t> code) {
  constexpr std::string_view kPrefixes = "\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0";
  for (const uint8_t byte : code) {
    if (byte == 0xf2 || byte == 0xf3) return true;
    if (kPrefixes.find(static_cast<char>(byte)) == std::string_view::npos) return false;
  }
  return false;
}

const llvm::MCSchedClassDesc* CostModel::Machinery::find_class(const llvm::MCSubtargetInfo& of,
                                                               const llvm::MCInst& inst) const {
  const llvm::MCSchedModel& costs = of.getSchedModel();
  if (!costs.hasInstrSchedModel()) return nullptr;
  unsigned number = instructions->get(alike[inst.getOpcode()]).getSchedClass();
  const llvm::MCSchedClassDesc* kind = costs.getSchedClassDesc(number);
  while (kind->isVariant()) {
    number = of.resolveVariantSchedClass(number, &inst, instructions.get(), costs.getProcessorID());
    if (number == 0) return nullptr;
    kind = costs.getSchedClassDesc(number);
  }
  return kind->isValid() ? kind : nullptr;
}

/// A model without a divider has divisions that occupy a port for a cycle.
double CostModel::Machinery::divider_cycles(const llvm::MCInst& inst,
                                            const llvm::MCSchedClassDesc& kind) const {
  const double own = longest_use(*cpu, kind);
  if (own > 1 || divider == nullptr) return own;
  const llvm::MCSchedClassDesc* const other = find_class(*divider, inst);
  return other == nullptr ? own : longest_use(*divider, *other);
}

/// How long the instruction's other operands are not needed yet while its load is under way, which
/// is longer for vectors.
unsigned CostModel::Machinery::find_load_latency(const llvm::MCSchedClassDesc& kind) const {
  unsigned latency = model().LoadLatency;
  for (const llvm::MCReadAdvanceEntry& entry : cpu->getReadAdvanceEntries(kind)) {
    latency = std::max(latency, static_cast<unsigned>(std::max(0, entry.Cycles)));
  }
  return latency;
}

void CostModel::Machinery::add_class_costs(const llvm::MCSchedClassDesc& kind,
                                           const Decoded& instruction,
                                           InstructionCosts& costs) const {
  costs.uops = kind.NumMicroOps;
  costs.latency_cycles = std::max(0, llvm::MCSchedModel::computeInstrLatency(*cpu, kind));
  if (is_division(instruction)) costs.divider_cycles = divider_cycles(instruction.inst, kind);
  adjust_costs(instruction, find_load_latency(kind), costs);
}

/// Stretches the uses so that the resource that is needed most is busy for `cycles`, and the others
/// in proportion.
void scale(std::vector<ResourceUse>& uses, double cycles) {
  double longest = 0;
  for (const ResourceUse& use : uses) longest = std::max(longest, use.cycles);
  if (!(longest > 0)) return;
  for (ResourceUse& use : uses) use.cycles *= cycles / longest;
}

BlockCosts CostModel::compute_costs(std::span<const std::span<const uint8_t>> code,
                                    std::span<InstructionCosts> costs, std::span<bool> known) {
  const Machinery& m = *machinery_;
  uses_.assign(code.size(), {});
  std::vector<double> pressure(m.model().getNumProcResourceKinds());
  std::string_view before;  // name of the opcode
  size_t bytes = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    costs[i] = InstructionCosts();
    llvm::MCInst inst;
    bool is_locked = false;
    known[i] = m.decode(code[i], &inst, &is_locked);
    if (!known[i]) {
      bytes += code[i].size();
      before = {};
      continue;
    }
    const llvm::StringRef name = m.instructions->getName(inst.getOpcode());
    const Decoded decoded{inst,
                          m.instructions->get(inst.getOpcode()),
                          {name.data(), name.size()},
                          is_locked,
                          m.has_classes && has_repeat_prefix(code[i])};
    if (!is_timed_by_rounds(decoded)) bytes += code[i].size();
    const InstructionClass instruction_class =
        m.has_classes ? find_instruction_class(decoded) : InstructionClass::other;
    const InstructionTiming& timing = m.timings[instruction_class];
    costs[i].is_call = decoded.facts.isCall();
    costs[i].loads = decoded.facts.mayLoad() ? 1 : 0;
    costs[i].stores = decoded.facts.mayStore() ? 1 : 0;
    find_operands(decoded, *m.numbers, costs[i]);
    const llvm::MCSchedClassDesc* const kind = m.find_class(*m.cpu, inst);
    known[i] = kind != nullptr;
    if (kind != nullptr) m.add_class_costs(*kind, decoded, costs[i]);
    apply_timing(timing, instruction_class, decoded, costs[i]);
    if (is_fused(before, decoded)) {
      costs[i].uops = 0;
      // One uop in the branch's port; a load of the first has its own.
      if (costs[i - 1].loads == 0) uses_[i - 1].clear();
    }
    before = decoded.name;
    const bool needs_no_port =
        costs[i].divider_cycles > 0 || costs[i].microcode_cycles > 0 || is_timed_by_rounds(decoded);
    if (kind == nullptr || needs_no_port) continue;
    for (const llvm::MCWriteProcResEntry& write : resources(*m.cpu, *kind)) {
      uses_[i].push_back({write.ProcResourceIdx, cycles_on(*m.cpu, write)});
    }
    if (timing.cycles > 0) {
      if (is_apart_from_ports(instruction_class)) {
        uses_[i].clear();
      } else {
        scale(uses_[i], timing.cycles);
      }
    }
  }
  for (const std::vector<ResourceUse>& uses : uses_) {
    for (const ResourceUse& use : uses) pressure[use.resource] += use.cycles;
  }
  BlockCosts block;
  block.fetch_cycles = static_cast<double>(bytes) / kFetchedBytesPerCycle;
  if (pressure.empty()) return block;
  const auto busiest = std::max_element(pressure.begin(), pressure.end());
  block.port_cycles = *busiest;
  for (size_t i = 0; i < code.size(); ++i) {
    for (const ResourceUse& use : uses_[i]) {
      if (use.resource == busiest - pressure.begin()) costs[i].port_cycles += use.cycles;
    }
  }
  return block;
}

std::vector<std::string> CostModel::resource_names() const {
  std::vector<std::string> names;
  const llvm::MCSchedModel& model = machinery_->model();
  for (unsigned i = 0; i < model.getNumProcResourceKinds(); ++i) {
    names.emplace_back(model.getProcResource(i)->Name);
  }
  return names;
}

double CostModel::load_cycles() const {
  return machinery_->model().LoadLatency;
}

CostModel::CostModel(std::unique_ptr<Machinery> machinery) : machinery_(std::move(machinery)) {}
CostModel::~CostModel() = default;

bool CostModel::has_target(std::string_view target) {
  return find_target(target) != nullptr;
}

std::unique_ptr<CostModel> CostModel::make(const std::string& name, const std::string& cpu,
                                           std::string& problem,
                                           const InstructionTimings& timings) {
  const Target* const known = find_target(name);
  if (known == nullptr) {
    problem = "there are no costs of instructions for " + name;
    return nullptr;
  }
  known->initialise();
  const std::string chosen = choose_cpu(*known, cpu);
  const llvm::Triple triple(known->triple);
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple.str(), problem);
  if (target == nullptr) return nullptr;
  auto m = std::make_unique<Machinery>();
  m->registers.reset(target->createMCRegInfo(triple.str()));
  m->assembly.reset(target->createMCAsmInfo(*m->registers, triple.str(), llvm::MCTargetOptions()));
  const char* const all = name == "aarch64" ? "+all" : "";
  m->features.reset(target->createMCSubtargetInfo(triple.str(), "", all));
  if (chosen.empty()) {
    problem = "LLVM knows no " + name + " CPU '" + cpu + "'";
    return nullptr;
  }
  m->cpu.reset(target->createMCSubtargetInfo(triple.str(), chosen, ""));
  if (known->divider != nullptr) {
    m->divider.reset(target->createMCSubtargetInfo(triple.str(), known->divider, ""));
  }
  m->instructions.reset(target->createMCInstrInfo());
  m->context = std::make_unique<llvm::MCContext>(triple, m->assembly.get(), m->registers.get(),
                                                 m->features.get());
  m->disassembler.reset(target->createMCDisassembler(*m->features, *m->context));
  if (!m->disassembler || !m->model().hasInstrSchedModel()) {
    problem = "LLVM has no costs of instructions for '" + cpu + "'";
    return nullptr;
  }
  m->numbers.emplace(*m->registers);
  m->find_alike_opcodes(chosen);
  m->has_classes = triple.isX86();
  m->timings = timings;
  return std::unique_ptr<CostModel>(new CostModel(std::move(m)));
}

}  // namespace culprit::simulate
