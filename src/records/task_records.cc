// Who runs: names, births and deaths of tasks, their switches, namespaces and cgroups.

#include "records/body_parsers.h"

namespace culprit {

namespace {

Result<TaskFields> parse_task(BodyInput& input) {
  TaskFields task;
  ASSIGN_OR_RETURN(task.pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(task.parent_pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(task.tid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(task.parent_tid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(task.time_ns, input.in.take<uint64_t>());
  return task;
}

}  // namespace

Result<RecordBody> parse_comm(BodyInput& input) {
  CommRecord comm;
  ASSIGN_OR_RETURN(comm.pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(comm.tid, input.in.take<uint32_t>());
  comm.exec = (input.header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
  comm.name = input.in.take_string();
  return comm;
}

Result<RecordBody> parse_fork(BodyInput& input) {
  ASSIGN_OR_RETURN(const TaskFields task, parse_task(input));
  return ForkRecord{task};
}

Result<RecordBody> parse_exit(BodyInput& input) {
  ASSIGN_OR_RETURN(const TaskFields task, parse_task(input));
  return ExitRecord{task};
}

Result<RecordBody> parse_switch(BodyInput& input) {
  SwitchRecord change;
  change.out = (input.header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  change.preempted = (input.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  return change;
}

Result<RecordBody> parse_switch_cpu_wide(BodyInput& input) {
  SwitchRecord change;
  change.out = (input.header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  change.preempted = (input.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
  ASSIGN_OR_RETURN(change.other_pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(change.other_tid, input.in.take<uint32_t>());
  return change;
}

Result<RecordBody> parse_namespaces(BodyInput& input) {
  NamespacesRecord record;
  ASSIGN_OR_RETURN(record.pid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(record.tid, input.in.take<uint32_t>());
  ASSIGN_OR_RETURN(const uint64_t count, input.in.take<uint64_t>());
  constexpr size_t kEntryBytes = 2 * sizeof(uint64_t);
  if (count > input.in.remaining() / kEntryBytes) {
    return Error{"a NAMESPACES record says it has " + std::to_string(count) + " entries"};
  }
  for (uint64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const uint64_t device, input.in.take<uint64_t>());
    ASSIGN_OR_RETURN(const uint64_t inode, input.in.take<uint64_t>());
    record.namespaces.emplace_back(device, inode);
  }
  return record;
}

Result<RecordBody> parse_cgroup(BodyInput& input) {
  CgroupRecord cgroup;
  ASSIGN_OR_RETURN(cgroup.id, input.in.take<uint64_t>());
  cgroup.path = input.in.take_string();
  return cgroup;
}

}  // namespace culprit
