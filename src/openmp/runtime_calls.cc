#include "openmp/runtime_calls.h"

#include <algorithm>
#include <array>
#include <span>

namespace culprit::openmp {
namespace {

struct Named {
  std::string_view name;  // or its beginning
  RuntimeCall call;
};

constexpr RuntimeCall work(Step step, uint16_t detail = CULPRIT_DETAIL_NONE) {
  return {.step = step, .kind = CULPRIT_KIND_LOOP, .detail = detail};
}
constexpr RuntimeCall of(Step step, uint16_t kind, uint16_t detail = CULPRIT_DETAIL_NONE) {
  return {.step = step, .kind = kind, .detail = detail};
}
constexpr RuntimeCall team(Step step, uint16_t kind, uint8_t body,
                           uint16_t loop = CULPRIT_DETAIL_NONE) {
  return {.step = step, .body = body, .kind = kind, .loop = loop};
}
constexpr RuntimeCall scheduled(Step step) {
  return {.step = step, .schedule = 2, .kind = CULPRIT_KIND_LOOP};
}

/// The body of GOMP_parallel_sections begins its sections by GOMP_sections_next().
constexpr uint16_t CULPRIT_DETAIL_SECTIONS = CULPRIT_DETAIL_NONE;

constexpr Named kOfLibgomp[] = {
#define LOOP_START(name, schedule, parameters, arguments) \
  {#name, work(Step::begins_work, CULPRIT_DETAIL_##schedule)},
#define LOOP_NEXT(name, type) {#name, work(Step::takes_piece)},
#define LOOP_END(name, type) {#name, work(Step::ends_work)},
#define PARALLEL(name, type, loop, parameters, arguments) \
  {#name, team(Step::runs_team, CULPRIT_KIND_PARALLEL, 0, CULPRIT_DETAIL_##loop)},
#define PARALLEL_START(name, loop, parameters, arguments) \
  {#name, team(Step::starts_team, CULPRIT_KIND_PARALLEL, 0, CULPRIT_DETAIL_##loop)},
#define OTHER(name, type, parameters)
#include "openmp/guest/gomp_functions.def"
    {"GOMP_parallel_end", of(Step::ends_team, CULPRIT_KIND_PARALLEL)},
    {"GOMP_sections_start", of(Step::begins_work, CULPRIT_KIND_SECTIONS)},
    {"GOMP_sections2_start", of(Step::begins_work, CULPRIT_KIND_SECTIONS)},
    {"GOMP_sections_next", of(Step::takes_piece, CULPRIT_KIND_SECTIONS)},
    {"GOMP_sections_end", of(Step::ends_work, CULPRIT_KIND_SECTIONS)},
    {"GOMP_sections_end_nowait", of(Step::ends_work, CULPRIT_KIND_SECTIONS)},
    {"GOMP_sections_end_cancel", of(Step::ends_work, CULPRIT_KIND_SECTIONS)},
    {"GOMP_single_start", of(Step::begins_single, CULPRIT_KIND_SINGLE)},
    {"GOMP_single_copy_start", of(Step::begins_copy, CULPRIT_KIND_SINGLE)},
    {"GOMP_single_copy_end", of(Step::ends_copy, CULPRIT_KIND_SINGLE)},
    {"GOMP_critical_start", of(Step::enters, CULPRIT_KIND_CRITICAL)},
    {"GOMP_critical_end", of(Step::leaves, CULPRIT_KIND_CRITICAL)},
    {"GOMP_critical_name_start", of(Step::enters, CULPRIT_KIND_CRITICAL, CULPRIT_DETAIL_NAMED)},
    {"GOMP_critical_name_end", of(Step::leaves, CULPRIT_KIND_CRITICAL)},
    {"GOMP_atomic_start", of(Step::enters, CULPRIT_KIND_ATOMIC)},
    {"GOMP_atomic_end", of(Step::leaves, CULPRIT_KIND_ATOMIC)},
    {"GOMP_ordered_start", of(Step::enters, CULPRIT_KIND_ORDERED)},
    {"GOMP_ordered_end", of(Step::leaves, CULPRIT_KIND_ORDERED)},
    {"GOMP_barrier", of(Step::waits, CULPRIT_KIND_BARRIER)},
    {"GOMP_barrier_cancel", of(Step::waits, CULPRIT_KIND_BARRIER)},
    {"GOMP_taskwait", of(Step::waits, CULPRIT_KIND_TASKWAIT)},
    {"GOMP_taskwait_depend", of(Step::waits, CULPRIT_KIND_TASKWAIT)},
    {"GOMP_taskgroup_end", of(Step::waits, CULPRIT_KIND_TASKGROUP)},
    {"GOMP_task", team(Step::creates_task, CULPRIT_KIND_TASK, 0)},
    {"GOMP_taskloop", team(Step::runs_task_loop, CULPRIT_KIND_TASKLOOP, 0)},
    {"GOMP_taskloop_ull", team(Step::runs_task_loop, CULPRIT_KIND_TASKLOOP, 0)},
    {"GOMP_teams_reg", team(Step::runs_team, CULPRIT_KIND_TEAMS, 0)},
};

/// Both runtimes have these.
constexpr Named kLocks[] = {
    {"omp_set_lock", of(Step::locks, CULPRIT_KIND_LOCK)},
    {"omp_set_nest_lock", of(Step::locks, CULPRIT_KIND_LOCK)},
    {"omp_set_lock_", of(Step::locks, CULPRIT_KIND_LOCK)},
    {"omp_set_nest_lock_", of(Step::locks, CULPRIT_KIND_LOCK)},
    {"omp_test_lock", of(Step::locks_if, CULPRIT_KIND_LOCK)},
    {"omp_test_nest_lock", of(Step::locks_if, CULPRIT_KIND_LOCK)},
    {"omp_test_lock_", of(Step::locks_if, CULPRIT_KIND_LOCK)},
    {"omp_test_nest_lock_", of(Step::locks_if, CULPRIT_KIND_LOCK)},
    {"omp_unset_lock", of(Step::unlocks, CULPRIT_KIND_LOCK)},
    {"omp_unset_nest_lock", of(Step::unlocks, CULPRIT_KIND_LOCK)},
    {"omp_unset_lock_", of(Step::unlocks, CULPRIT_KIND_LOCK)},
    {"omp_unset_nest_lock_", of(Step::unlocks, CULPRIT_KIND_LOCK)},
};

/// Source: the sources of LLVM's runtime, as of LLVM 19 (kmp_csupport, kmp_dispatch, kmp_tasking).
constexpr Named kOfLlvm[] = {
    {"__kmpc_fork_call", team(Step::runs_team, CULPRIT_KIND_PARALLEL, 2)},
    {"__kmpc_fork_call_if", team(Step::runs_team, CULPRIT_KIND_PARALLEL, 2)},
    {"__kmpc_fork_teams", team(Step::runs_team, CULPRIT_KIND_TEAMS, 2)},
    {"__kmpc_serialized_parallel", of(Step::begins_serial, CULPRIT_KIND_PARALLEL)},
    {"__kmpc_end_serialized_parallel", of(Step::ends_serial, CULPRIT_KIND_PARALLEL)},
    {"__kmpc_for_static_fini", work(Step::ends_work)},
    {"__kmpc_distribute_static_fini", work(Step::ends_work)},
    {"__kmpc_barrier", of(Step::waits, CULPRIT_KIND_BARRIER)},
    {"__kmpc_cancel_barrier", of(Step::waits, CULPRIT_KIND_BARRIER)},
    {"__kmpc_critical", of(Step::enters, CULPRIT_KIND_CRITICAL)},
    {"__kmpc_critical_with_hint", of(Step::enters, CULPRIT_KIND_CRITICAL)},
    {"__kmpc_end_critical", of(Step::leaves, CULPRIT_KIND_CRITICAL)},
    {"__kmpc_ordered", of(Step::enters, CULPRIT_KIND_ORDERED)},
    {"__kmpc_end_ordered", of(Step::leaves, CULPRIT_KIND_ORDERED)},
    {"__kmpc_single", of(Step::begins_if, CULPRIT_KIND_SINGLE)},
    {"__kmpc_end_single", of(Step::leaves, CULPRIT_KIND_SINGLE)},
    {"__kmpc_master", of(Step::begins_if, CULPRIT_KIND_MASTER)},
    {"__kmpc_end_master", of(Step::leaves, CULPRIT_KIND_MASTER)},
    {"__kmpc_masked", of(Step::begins_if, CULPRIT_KIND_MASTER)},
    {"__kmpc_end_masked", of(Step::leaves, CULPRIT_KIND_MASTER)},
    {"__kmpc_omp_taskwait", of(Step::waits, CULPRIT_KIND_TASKWAIT)},
    {"__kmpc_omp_taskwait_deps_51", of(Step::waits, CULPRIT_KIND_TASKWAIT)},
    {"__kmpc_end_taskgroup", of(Step::waits, CULPRIT_KIND_TASKGROUP)},
    {"__kmpc_omp_task_alloc", team(Step::creates_task, CULPRIT_KIND_TASK, 5)},
};

/// One function for each type of the loop's variable: these are what the names begin with.
constexpr Named kFamiliesOfLlvm[] = {
    {"__kmpc_for_static_init_", scheduled(Step::begins_work)},
    {"__kmpc_dist_for_static_init_", scheduled(Step::begins_work)},
    {"__kmpc_dispatch_init_", scheduled(Step::begins_work)},
    {"__kmpc_dispatch_next_", work(Step::takes_last)},
};

std::optional<RuntimeCall> find_in(std::span<const Named> table, std::string_view symbol) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Named& one) { return one.name == symbol; });
  if (found == table.end()) return std::nullopt;
  return found->call;
}

}  // namespace

std::optional<RuntimeCall> find_runtime_call(std::string_view symbol) {
  constexpr RuntimeCall kOther{.step = Step::works};
  if (symbol.starts_with("GOMP_")) return find_in(kOfLibgomp, symbol).value_or(kOther);
  if (symbol.starts_with("omp_")) return find_in(kLocks, symbol);
  if (!symbol.starts_with("__kmpc_")) return std::nullopt;
  for (const Named& family : kFamiliesOfLlvm) {
    if (symbol.starts_with(family.name)) return family.call;
  }
  return find_in(kOfLlvm, symbol).value_or(kOther);
}

Schedule find_schedule(uint32_t number) {
  constexpr uint32_t kModifiers = 3u << 29;  // monotonic, nonmonotonic
  number &= ~kModifiers;
  constexpr uint32_t kOrdered = 64;  // of 65 to 72, which are 33 to 40 otherwise
  if (number == 91 || number == 92) return {CULPRIT_DETAIL_STATIC, true};
  if (number > kOrdered) number -= kOrdered - 32;
  switch (number) {
    case 33:
    case 34:
      return {CULPRIT_DETAIL_STATIC};
    case 35:
      return {CULPRIT_DETAIL_DYNAMIC};
    case 36:
      return {CULPRIT_DETAIL_GUIDED};
    case 37:
      return {CULPRIT_DETAIL_RUNTIME};
    default:
      return {};
  }
}

}  // namespace culprit::openmp
