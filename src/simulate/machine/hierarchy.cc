#include "simulate/machine/hierarchy.h"

#include "simulate/machine/private_caches.h"

namespace culprit::simulate {

namespace {

SetSample::Plan sample_plan(const HierarchyOptions& options) {
  SetSample::Plan plan{.one_of = options.sample_sets,
                       .seed = options.sample_seed,
                       .begins_later = options.samples_later};
  // A slice of the shared level tells capacity from conflicts by all its lines, or by none.
  if (options.locality != Locality::off) plan.most_groups = SharedLevel::kSlices;
  return plan;
}

}  // namespace

Hierarchy::Hierarchy(const MachineModel& machine, const HierarchyOptions& options, SetSample sample)
    : machine_(machine),
      options_(options),
      sample_(std::move(sample)),
      shared_(machine_, options.locality) {}

Hierarchy::~Hierarchy() = default;

Result<std::unique_ptr<Hierarchy>> Hierarchy::make(const MachineModel& machine,
                                                   const HierarchyOptions& options) {
  RETURN_IF_ERROR(check_machine(machine));
  ASSIGN_OR_RETURN(SetSample sample, SetSample::make(machine, sample_plan(options)));
  return std::unique_ptr<Hierarchy>(new Hierarchy(machine, options, std::move(sample)));
}

CoreState& Hierarchy::add_core() {
  const std::lock_guard lock(cores_mutex_);
  cores_.push_back(std::make_unique<CoreState>(machine_, options_.locality, sample_, huge_pages_,
                                               shared_, static_cast<uint16_t>(cores_.size())));
  shared_.add_core(*cores_.back());
  return *cores_.back();
}

void Hierarchy::set_huge_pages(uint64_t begin, uint64_t end, bool huge) {
  const uint64_t changes = huge_pages_.changes();
  huge_pages_.set(begin, end, huge);
  if (huge_pages_.changes() == changes) return;
  const std::lock_guard lock(cores_mutex_);
  for (const std::unique_ptr<CoreState>& core : cores_) core->mailbox.wake();
}

void Hierarchy::finish() {
  for (const std::unique_ptr<CoreState>& core : cores_) finish_private(*core);
  if (!cores_.empty()) shared_.finish(*cores_.front());
}

}  // namespace culprit::simulate
