#include "code/costs/cost_model.h"

#include <algorithm>
#include <llvm/MC/MCSchedule.h>
#include <numeric>
#include <optional>
#include <vector>

#include "code/costs/classes.h"
#include "code/costs/special_costs.h"
#include "code/decoder/operand_reader.h"

namespace culprit {
namespace {

/// Which CPUs of an architecture stand in for others.
struct CostTarget {
  std::string_view name;
  const char* cpu;      // if none is named
  const char* divider;  // whose divider a model without one gets; nullptr: nobody's
};
constexpr CostTarget kTargets[] = {
    {"x86_64", "x86-64-v3", "icelake-server"},
    {"aarch64", "neoverse-n1", nullptr},
};

const CostTarget* find_target(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                         [&](const CostTarget& one) { return one.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

std::unique_ptr<llvm::MCSubtargetInfo> make_cpu(const CodeTarget& code, const std::string& cpu) {
  const Result<const llvm::Target*> target = start_llvm(code);
  if (!target) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      (*target)->createMCSubtargetInfo(code.triple, cpu, ""));
}

bool is_cpu_of(const CostTarget& target, const std::string& cpu) {
  const auto any = make_cpu(*find_code_target(target.name), "");
  return any != nullptr && any->isCPUStringValid(cpu);
}

/// `asked`, or a common CPU of the target; "": nobody knows it.
std::string choose_cpu(const CostTarget& target, const std::string& asked) {
  if (asked.empty()) return target.cpu;
  if (is_cpu_of(target, asked)) return asked;
  const bool is_of_another =
      std::any_of(std::begin(kTargets), std::end(kTargets),
                  [&](const CostTarget& one) { return is_cpu_of(one, asked); });
  return is_of_another ? target.cpu : "";
}

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

/// Stretches the uses so that the resource that is needed most is busy for `cycles`, and the others
/// in proportion.
void scale(std::vector<PortUse>& uses, double cycles) {
  double longest = 0;
  for (const PortUse& use : uses) longest = std::max(longest, use.cycles);
  if (!(longest > 0)) return;
  for (PortUse& use : uses) use.cycles *= cycles / longest;
}

}  // namespace

struct CostModel::Parts {
  std::unique_ptr<LlvmMachinery> machinery;
  std::unique_ptr<llvm::MCSubtargetInfo> cpu;
  std::unique_ptr<llvm::MCSubtargetInfo> divider;  // whose divider stands in; may be nullptr
  std::vector<unsigned> alike;                     // by opcode: whose costs it has
  InstructionTimings timings;

  [[nodiscard]] const llvm::MCSchedModel& model() const { return cpu->getSchedModel(); }
  /// x86's instructions have classes.
  [[nodiscard]] bool has_classes() const { return machinery->code_target->is_x86; }
  void find_alike_opcodes(std::string_view cpu_name);
  const llvm::MCSchedClassDesc* find_class(const llvm::MCSubtargetInfo& of,
                                           const llvm::MCInst& inst) const;
  void add_class_costs(const llvm::MCSchedClassDesc& kind, const DecodedInstruction& instruction,
                       const Operands& operands, InstructionCosts& costs) const;
  [[nodiscard]] unsigned find_load_latency(const llvm::MCSchedClassDesc& kind) const;
  [[nodiscard]] double divider_cycles(const llvm::MCInst& inst,
                                      const llvm::MCSchedClassDesc& kind) const;
};

void CostModel::Parts::find_alike_opcodes(std::string_view cpu_name) {
  const auto name_of = [&](unsigned opcode) {
    const llvm::StringRef name = machinery->instructions->getName(opcode);
    return std::string_view(name.data(), name.size());
  };
  alike.resize(machinery->instructions->getNumOpcodes());
  std::iota(alike.begin(), alike.end(), 0U);
  for (unsigned i = 0; i < alike.size(); ++i) {
    const std::string_view other = find_alike(cpu_name, name_of(i));
    if (other == name_of(i)) continue;
    while (name_of(alike[i]) != other)
      alike[i] = (alike[i] + 1) % machinery->instructions->getNumOpcodes();
  }
}

const llvm::MCSchedClassDesc* CostModel::Parts::find_class(const llvm::MCSubtargetInfo& of,
                                                           const llvm::MCInst& inst) const {
  const llvm::MCSchedModel& costs = of.getSchedModel();
  if (!costs.hasInstrSchedModel()) return nullptr;
  unsigned number = machinery->instructions->get(alike[inst.getOpcode()]).getSchedClass();
  const llvm::MCSchedClassDesc* kind = costs.getSchedClassDesc(number);
  while (kind->isVariant()) {
    number = of.resolveVariantSchedClass(number, &inst, machinery->instructions.get(),
                                         costs.getProcessorID());
    if (number == 0) return nullptr;
    kind = costs.getSchedClassDesc(number);
  }
  return kind->isValid() ? kind : nullptr;
}

/// A model without a divider has divisions that occupy a port for a cycle.
double CostModel::Parts::divider_cycles(const llvm::MCInst& inst,
                                        const llvm::MCSchedClassDesc& kind) const {
  const double own = longest_use(*cpu, kind);
  if (own > 1 || divider == nullptr) return own;
  const llvm::MCSchedClassDesc* const other = find_class(*divider, inst);
  return other == nullptr ? own : longest_use(*divider, *other);
}

/// How long the instruction's other operands are not needed yet while its load is under way, which
/// is longer for vectors.
unsigned CostModel::Parts::find_load_latency(const llvm::MCSchedClassDesc& kind) const {
  unsigned latency = model().LoadLatency;
  for (const llvm::MCReadAdvanceEntry& entry : cpu->getReadAdvanceEntries(kind)) {
    latency = std::max(latency, static_cast<unsigned>(std::max(0, entry.Cycles)));
  }
  return latency;
}

void CostModel::Parts::add_class_costs(const llvm::MCSchedClassDesc& kind,
                                       const DecodedInstruction& instruction,
                                       const Operands& operands, InstructionCosts& costs) const {
  costs.uops = kind.NumMicroOps;
  costs.latency_cycles = std::max(0, llvm::MCSchedModel::computeInstrLatency(*cpu, kind));
  if (operands.divides) costs.divider_cycles = divider_cycles(instruction.inst, kind);
  adjust_costs(instruction, operands, find_load_latency(kind), costs);
}

BlockCosts CostModel::compute_costs(std::span<const std::span<const uint8_t>> code,
                                    std::span<InstructionCosts> costs, std::span<bool> known) {
  const Parts& m = *parts_;
  uses_.assign(code.size(), {});
  std::vector<double> pressure(m.model().getNumProcResourceKinds());
  std::string_view before;  // name of the opcode
  size_t bytes = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    costs[i] = InstructionCosts();
    const std::optional<DecodedInstruction> decoded = m.machinery->decode_whole(code[i], 0);
    known[i] = decoded.has_value();
    if (!decoded) {
      bytes += code[i].size();
      before = {};
      continue;
    }
    const Operands operands = read_operands(*decoded, *m.machinery);
    if (!is_timed_by_rounds(operands)) bytes += code[i].size();
    const InstructionClass instruction_class =
        m.has_classes() ? find_instruction_class(*decoded, operands) : InstructionClass::other;
    const InstructionTiming& timing = m.timings[instruction_class];
    static_cast<RegisterUse&>(costs[i]) = operands;
    costs[i].is_call = decoded->facts->isCall();
    costs[i].is_of_frame = is_of_frame(*decoded);
    // As uops are counted: a prefetch is a load, too.
    costs[i].loads = decoded->facts->mayLoad() ? 1 : 0;
    costs[i].stores = decoded->facts->mayStore() ? 1 : 0;
    const llvm::MCSchedClassDesc* const kind = m.find_class(*m.cpu, decoded->inst);
    known[i] = kind != nullptr;
    if (kind != nullptr) m.add_class_costs(*kind, *decoded, operands, costs[i]);
    apply_timing(timing, instruction_class, *decoded, costs[i]);
    costs[i].is_microcode = is_microcode(*decoded, costs[i]);
    if (is_fused(before, decoded->name)) {
      costs[i].uops = 0;
      // One uop in the branch's port; a load of the first has its own.
      if (costs[i - 1].loads == 0) uses_[i - 1].clear();
    }
    before = decoded->name;
    const bool needs_no_port = costs[i].divider_cycles > 0 || costs[i].microcode_cycles > 0 ||
                               is_timed_by_rounds(operands);
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
  for (const std::vector<PortUse>& uses : uses_) {
    for (const PortUse& use : uses) pressure[use.resource] += use.cycles;
  }
  BlockCosts block;
  block.fetch_cycles = static_cast<double>(bytes) / kFetchedBytesPerCycle;
  if (pressure.empty()) return block;
  const auto busiest = std::max_element(pressure.begin(), pressure.end());
  block.port_cycles = *busiest;
  for (size_t i = 0; i < code.size(); ++i) {
    for (const PortUse& use : uses_[i]) {
      if (use.resource == busiest - pressure.begin()) costs[i].port_cycles += use.cycles;
    }
  }
  return block;
}

std::vector<std::string> CostModel::resource_names() const {
  std::vector<std::string> names;
  const llvm::MCSchedModel& model = parts_->model();
  for (unsigned i = 0; i < model.getNumProcResourceKinds(); ++i) {
    names.emplace_back(model.getProcResource(i)->Name);
  }
  return names;
}

double CostModel::load_cycles() const {
  return parts_->model().LoadLatency;
}

CostModel::CostModel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
CostModel::~CostModel() = default;

bool CostModel::has_target(std::string_view target) {
  return find_target(target) != nullptr;
}

std::string CostModel::cpu() const {
  return parts_->cpu->getCPU().str();
}

bool CostModel::has_feature(const std::string& name) const {
  return parts_->cpu->checkFeatures("+" + name);
}

std::unique_ptr<CostModel> CostModel::make(const std::string& name, const std::string& cpu,
                                           std::string& problem,
                                           const InstructionTimings& timings) {
  const CostTarget* const known = find_target(name);
  if (known == nullptr) {
    problem = "there are no costs of instructions for " + name;
    return nullptr;
  }
  const CodeTarget& code = *find_code_target(name);
  Result<std::unique_ptr<LlvmMachinery>> machinery = LlvmMachinery::make(code);
  if (!machinery) {
    problem = machinery.error().message;
    return nullptr;
  }
  const std::string chosen = choose_cpu(*known, cpu);
  if (chosen.empty()) {
    problem = "LLVM knows no " + name + " CPU '" + cpu + "'";
    return nullptr;
  }
  auto parts = std::make_unique<Parts>();
  parts->machinery = *std::move(machinery);
  parts->cpu = make_cpu(code, chosen);
  if (known->divider != nullptr) parts->divider = make_cpu(code, known->divider);
  if (!parts->model().hasInstrSchedModel()) {
    problem = "LLVM has no costs of instructions for '" + cpu + "'";
    return nullptr;
  }
  parts->find_alike_opcodes(chosen);
  parts->timings = timings;
  return std::unique_ptr<CostModel>(new CostModel(std::move(parts)));
}

}  // namespace culprit
