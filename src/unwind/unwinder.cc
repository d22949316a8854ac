// One walk: find the mapping of the program counter, its file's rules there, apply them,
// and again for the caller. A caller is looked up one byte before its return address: that
// byte belongs to the call, while the address may be the first one of another function
// (after a call that does not return). What a signal interrupted is looked up as it is.

#include "unwind/unwinder.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "unwind/architecture.h"
#include "unwind/frame_rules.h"
#include "unwind/unwind_table.h"

namespace culprit {

namespace {

constexpr size_t kMostFiles = 256;

/// A file that was asked for. No table: it cannot be had, or has none.
struct KnownFile {
  std::optional<UnwindTable> table;
  uint64_t last_used = 0;
};

}  // namespace

class Unwinder::Impl {
 public:
  Impl(std::string_view architecture, OpenMappedFile open)
      : architecture_(Architecture::find(architecture)), open_(std::move(open)) {}

  UnwoundStack unwind(uint32_t pid, const AddressSpaces& spaces, const RegisterDump& dump,
                      std::span<const std::byte> stack);

 private:
  friend class Walk;
  class Walk;
  UnwindTable* table_of(uint32_t pid, const Mapping& mapping);
  void make_room();

  const Architecture* architecture_;
  OpenMappedFile open_;
  std::unordered_map<FileKey, KnownFile> files_;
  uint64_t uses_ = 0;
};

/// One stack.
class Unwinder::Impl::Walk {
 public:
  Walk(Impl& owner, uint32_t pid, const AddressSpaces& spaces, std::span<const std::byte> stack,
       const TaskState& state)
      : owner_(owner),
        pid_(pid),
        spaces_(spaces),
        stack_(stack),
        stack_begin_(state.stack_pointer),
        pc_(state.pc),
        cfa_(state.stack_pointer),
        registers_(state.registers),
        read_([this](uint64_t address) { return read_word(address); }) {}

  UnwoundStack run() {
    UnwoundStack result;
    while (true) {
      const FrameRules* const rules = find_rules();
      // A signal frame is returned into, not called from.
      const bool is_exact = is_interrupted_ || (rules != nullptr && rules->is_signal_frame);
      // A caller that is nowhere is no frame; where the sample was taken is one in any case.
      if (!result.frames.empty() && stop_ == UnwindStop::damaged) break;
      result.frames.push_back({RunAddress(is_exact ? pc_ : pc_ - 1), Mode::user});
      if (rules == nullptr) break;
      if (result.frames.size() >= kMostUnwoundFrames) {
        stop_ = UnwindStop::depth_limit;
        break;
      }
      if (!step(*rules)) break;
    }
    result.stop = stop_;
    return result;
  }

 private:
  /// nullptr: `stop_` says why.
  const FrameRules* find_rules() {
    const RunAddress address(is_interrupted_ ? pc_ : pc_ - 1);
    const Mapping* const mapping = spaces_.find(pid_, address);
    if (mapping == nullptr) return stop(UnwindStop::damaged);
    UnwindTable* const table = owner_.table_of(pid_, *mapping);
    if (table == nullptr) return stop(UnwindStop::no_unwind_information);
    const auto link =
        table->to_link_address(FileOffset(mapping->file_offset + (address - mapping->start)));
    const FrameRules* const rules = link ? table->find(*link) : nullptr;
    return rules != nullptr ? rules : stop(UnwindStop::no_unwind_information);
  }

  const FrameRules* stop(UnwindStop why) {
    stop_ = why;
    return nullptr;
  }

  /// Goes to the caller; false: there is none, or it cannot be found.
  bool step(const FrameRules& rules) {
    StepFailure failure = StepFailure::none;
    registers_.set(owner_.architecture_->pc_register, pc_);  // procedure linkage tables ask for it
    const auto next = apply(rules, *owner_.architecture_, registers_, read_, failure);
    stop_ = failure == StepFailure::memory    ? UnwindStop::outside_copy
            : failure == StepFailure::damaged ? UnwindStop::damaged
                                              : UnwindStop::end_of_stack;
    if (!next || !next->pc || *next->pc == 0) return false;
    // Stacks grow down, so callers are higher up. Only what has not pushed anything yet, or
    // runs no code of its own, can be where its caller is; signals may change stacks.
    const bool has_grown = next->cfa > cfa_ || (is_interrupted_ && next->cfa == cfa_);
    if (!has_grown && !rules.is_signal_frame) {
      stop_ = UnwindStop::damaged;
      return false;
    }
    registers_ = next->registers;
    pc_ = *next->pc;
    is_interrupted_ = rules.is_signal_frame;
    cfa_ = registers_.get(owner_.architecture_->stack_pointer).value_or(next->cfa);
    return true;
  }

  std::optional<uint64_t> read_word(uint64_t address) {
    uint64_t word = 0;
    if (address >= stack_begin_ && stack_.size() >= sizeof word &&
        address - stack_begin_ <= stack_.size() - sizeof word) {
      std::memcpy(&word, stack_.data() + (address - stack_begin_), sizeof word);
      return word;
    }
    const Mapping* const mapping = spaces_.find(pid_, RunAddress(address));
    if (mapping == nullptr || mapping->end.value - address < sizeof word) return std::nullopt;
    UnwindTable* const table = owner_.table_of(pid_, *mapping);
    if (table == nullptr) return std::nullopt;
    return table->read_word(
        FileOffset(mapping->file_offset + (RunAddress(address) - mapping->start)));
  }

  Impl& owner_;
  uint32_t pid_;
  const AddressSpaces& spaces_;
  std::span<const std::byte> stack_;
  uint64_t stack_begin_;
  uint64_t pc_;
  uint64_t cfa_;  // the stack pointer before the last step
  bool is_interrupted_ = true;
  Registers registers_;
  ReadWord read_;
  UnwindStop stop_ = UnwindStop::end_of_stack;
};

UnwoundStack Unwinder::Impl::unwind(uint32_t pid, const AddressSpaces& spaces,
                                    const RegisterDump& dump, std::span<const std::byte> stack) {
  if (dump.abi == PERF_SAMPLE_REGS_ABI_NONE) return {{}, UnwindStop::no_registers};
  if (architecture_ == nullptr || dump.abi != PERF_SAMPLE_REGS_ABI_64) {
    return {{}, UnwindStop::unsupported};
  }
  make_room();
  const std::optional<TaskState> state = make_state(*architecture_, dump);
  if (!state) return {{}, UnwindStop::damaged};
  return Walk(*this, pid, spaces, stack, *state).run();
}

UnwindTable* Unwinder::Impl::table_of(uint32_t pid, const Mapping& mapping) {
  auto at = files_.find(mapping.file);
  if (at == files_.end()) {
    at = files_.try_emplace(mapping.file).first;
    if (std::optional<Fd> file = open_(pid, mapping)) {
      Result<UnwindTable> table = UnwindTable::open(*std::move(file), *architecture_);
      if (table) at->second.table.emplace(*std::move(table));
    }
  }
  at->second.last_used = ++uses_;
  return at->second.table ? &*at->second.table : nullptr;
}

/// Call it between walks only: a walk holds on to rules.
void Unwinder::Impl::make_room() {
  while (files_.size() > kMostFiles) {
    const auto oldest = std::min_element(files_.begin(), files_.end(), [](auto& a, auto& b) {
      return a.second.last_used < b.second.last_used;
    });
    files_.erase(oldest);
  }
}

Unwinder::Unwinder(std::string_view architecture, OpenMappedFile open)
    : impl_(std::make_unique<Impl>(architecture, std::move(open))) {}
Unwinder::Unwinder(Unwinder&&) noexcept = default;
Unwinder& Unwinder::operator=(Unwinder&&) noexcept = default;
Unwinder::~Unwinder() = default;

UnwoundStack Unwinder::unwind(uint32_t pid, const AddressSpaces& spaces,
                              const RegisterDump& registers, std::span<const std::byte> stack) {
  return impl_->unwind(pid, spaces, registers, stack);
}

}  // namespace culprit
