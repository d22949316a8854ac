#pragma once

// The fields of each row of a Profile, listed once. See field_list.h for what the roles mean and
// tables.h for the tables that the rows stand in.
//
// A new field: a line in its struct and a line here. Files without it leave the field's default.

#include "model/field_list.h"
#include "model/profile.h"

namespace culprit {

// Rows of tables.

template <>
struct FieldList<Run> {
  static constexpr size_t kElsewhere = 1;  // labels: RunLabel in the file
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"host"}, rows.host...);
    visit(Field{"command"}, rows.command...);
    visit(Field{"start_ns"}, rows.start_ns...);
    visit(Field{"duration_ns"}, rows.duration_ns...);
    visit(Field{"cpu_time_ns"}, rows.cpu_time_ns...);
    visit(Field{"wait_status"}, rows.wait_status...);
    visit(Field{"system_time_ns"}, rows.use.system_time_ns...);
    visit(Field{"minor_faults"}, rows.use.minor_faults...);
    visit(Field{"major_faults"}, rows.use.major_faults...);
    visit(Field{"read_calls"}, rows.use.read_calls...);
    visit(Field{"read_bytes"}, rows.use.read_bytes...);
    visit(Field{"write_calls"}, rows.use.write_calls...);
    visit(Field{"written_bytes"}, rows.use.written_bytes...);
    visit(Field{"other_programs_ns"}, rows.others.other_programs_ns...);
    visit(Field{"stolen_ns"}, rows.others.stolen_ns...);
  }
};

template <>
struct FieldList<Process> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"run"}, rows.run...);
    visit(Field{"pid"}, rows.pid...);
    visit(Field{"parent_pid"}, rows.parent_pid...);
    visit(Field{"name"}, rows.name...);
  }
};

template <>
struct FieldList<Thread> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"process"}, rows.process...);
    visit(Field{"tid"}, rows.tid...);
    visit(Field{"name"}, rows.name...);
    visit(Field{"ordinal"}, rows.ordinal...);
  }
};

template <>
struct FieldList<Context> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"run"}, rows.run...);
    visit(Field{"process"}, rows.process...);
    visit(Field{"thread"}, rows.thread...);
    visit(Field{"mode"}, rows.mode...);
    visit(Field{"cgroup"}, rows.cgroup...);
    visit(Field{"label"}, rows.label...);
    visit(Field{"region"}, rows.region...);
  }
};

template <>
struct FieldList<Event> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"name"}, rows.name...);
    visit(Field{"unit"}, rows.unit...);
    visit(Field{"provenance"}, rows.provenance...);
    visit(Field{"engine"}, rows.engine...);
    visit(Field{"encoding"}, rows.encoding...);
    visit(Field{"period"}, rows.period...);
    visit(Field{"scale"}, rows.scale...);
  }
};

template <>
struct FieldList<Image> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"kind"}, rows.kind...);
    visit(Field{"path"}, rows.path...);
    visit(Field{"build_id"}, rows.build_id...);
    visit(Field{"inode"}, rows.inode...);
    visit(Field{"size_bytes"}, rows.size_bytes...);
    visit(Field{"mtime_ns"}, rows.mtime_ns...);
    visit(Field{"content_hash"}, rows.content_hash...);
    visit(Field{"born_ns"}, rows.born_ns...);
    visit(Field{"died_ns"}, rows.died_ns...);
  }
};

template <>
struct FieldList<StackNode> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"parent"}, rows.parent...);
    visit(Field{"image"}, rows.location.image...);
    visit(Field{"offset"}, rows.location.offset...);
  }
};

template <>
struct FieldList<DataObject> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"kind"}, rows.kind...);
    visit(Field{"name"}, rows.name...);
    visit(Field{"type"}, rows.type...);
    visit(Field{"parent"}, rows.parent...);
    visit(Field{"site_image"}, rows.site.image...);
    visit(Field{"site_offset"}, rows.site.offset...);
    visit(Field{"size_bytes"}, rows.size_bytes...);
    visit(Field{"calls"}, rows.calls...);
    visit(Total{"blocks"}, rows.blocks...);
    visit(Total{"total_bytes"}, rows.total_bytes...);
  }
};

template <>
struct FieldList<ObjectRange> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"object"}, rows.object...);
    visit(Field{"context"}, rows.context...);
    visit(Field{"start"}, rows.start...);
    visit(Field{"size_bytes"}, rows.size_bytes...);
    visit(Field{"born_ns"}, rows.born_ns...);
    visit(Field{"died_ns"}, rows.died_ns...);
  }
};

template <>
struct FieldList<Region> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"name"}, rows.name...);
    visit(Field{"kind"}, rows.kind...);
    visit(Field{"file"}, rows.file...);
    visit(Field{"first_line"}, rows.first_line...);
    visit(Field{"last_line"}, rows.last_line...);
    visit(Field{"parent"}, rows.parent...);
    visit(Field{"site_image"}, rows.site.image...);
    visit(Field{"site_offset"}, rows.site.offset...);
    visit(Field{"end_image"}, rows.end.image...);
    visit(Field{"end_offset"}, rows.end.offset...);
  }
};

// Counts.

template <>
struct FieldList<HistogramRow> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"image"}, rows.location.image...);
    visit(Field{"offset"}, rows.location.offset...);
    visit(Field{"object"}, rows.object...);
    visit(NeededId{"event"}, rows.cell.event...);
    visit(Total{"samples"}, rows.cell.samples...);
    visit(Total{"value"}, rows.cell.value...);
    visit(Variance{"variance"}, rows.cell.variance...);
  }
};

template <>
struct FieldList<StackCount> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"stack"}, rows.stack...);
    visit(NeededId{"event"}, rows.cell.event...);
    visit(Total{"samples"}, rows.cell.samples...);
    visit(Total{"value"}, rows.cell.value...);
    visit(Variance{"variance"}, rows.cell.variance...);
  }
};

template <>
struct FieldList<BranchCount> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(Field{"from_image"}, rows.from.image...);
    visit(Field{"from_offset"}, rows.from.offset...);
    visit(Field{"to_image"}, rows.to.image...);
    visit(Field{"to_offset"}, rows.to.offset...);
    visit(Total{"count"}, rows.count...);
    visit(Total{"mispredicted"}, rows.mispredicted...);
    visit(Total{"cycles"}, rows.cycles...);
    visit(Total{"judged"}, rows.judged...);
    visit(Total{"timed"}, rows.timed...);
  }
};

template <>
struct FieldList<FallThrough> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"image"}, rows.image...);
    visit(Field{"from"}, rows.from...);
    visit(Field{"to"}, rows.to...);
    visit(Total{"count"}, rows.count...);
  }
};

template <>
struct FieldList<SampledAccess> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"event"}, rows.event...);
    visit(Field{"image"}, rows.location.image...);
    visit(Field{"offset"}, rows.location.offset...);
    visit(Field{"object"}, rows.object...);
    visit(Field{"source"}, rows.source...);
    visit(Total{"samples"}, rows.samples...);
    visit(Total{"timed"}, rows.timed...);
    visit(Total{"latency_cycles"}, rows.latency_cycles...);
    visit(Total{"squared_latency"}, rows.squared_latency...);
    visit(Total{"instruction_latency_cycles"}, rows.instruction_latency_cycles...);
  }
};

template <>
struct FieldList<Count> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"event"}, rows.event...);
    visit(Field{"interval"}, rows.interval...);
    visit(Field{"repetition"}, rows.repetition...);
    visit(Total{"value"}, rows.value...);
    visit(Total{"time_enabled_ns"}, rows.time_enabled_ns...);
    visit(Total{"time_running_ns"}, rows.time_running_ns...);
  }
};

template <>
struct FieldList<SliceCount> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(Field{"width_ns"}, rows.width_ns...);
    visit(Field{"begin_ns"}, rows.begin_ns...);
    visit(NeededId{"event"}, rows.cell.event...);
    visit(Total{"samples"}, rows.cell.samples...);
    visit(Total{"value"}, rows.cell.value...);
    visit(Variance{"variance"}, rows.cell.variance...);
  }
};

template <>
struct FieldList<Tenure> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(Field{"image"}, rows.location.image...);
    visit(Field{"offset"}, rows.location.offset...);
    visit(Field{"object"}, rows.object...);
    visit(Field{"level"}, rows.level...);
    visit(Field{"kind"}, rows.kind...);
    visit(Total{"lines"}, rows.lines...);
    visit(Total{"bytes_touched"}, rows.bytes_touched...);
    visit(Total{"bytes_accessed"}, rows.bytes_accessed...);
    visit(Total{"touches"}, rows.touches...);
    visit(Total{"lines_reused"}, rows.lines_reused...);
    visit(Total{"lines_at_end"}, rows.lines_at_end...);
    visit(Total{"lines_prefetched"}, rows.lines_prefetched...);
    visit(Total{"lines_never_used"}, rows.lines_never_used...);
    visit(Total{"lines_cut"}, rows.lines_cut...);
    visit(Field{"stratum"}, rows.stratum...);
  }
};

template <>
struct FieldList<Edge> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"from_context"}, rows.from_context...);
    visit(NeededId{"to_context"}, rows.to_context...);
    visit(Field{"from_image"}, rows.from.image...);
    visit(Field{"from_offset"}, rows.from.offset...);
    visit(Field{"to_image"}, rows.to.image...);
    visit(Field{"to_offset"}, rows.to.offset...);
    visit(Field{"object"}, rows.object...);
    visit(Field{"level"}, rows.level...);
    visit(Field{"kind"}, rows.kind...);
    visit(Total{"count"}, rows.count...);
    visit(Field{"to_object"}, rows.to_object...);
    visit(Field{"stratum"}, rows.stratum...);
  }
};

template <>
struct FieldList<AccessOffset> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(Field{"image"}, rows.location.image...);
    visit(Field{"offset"}, rows.location.offset...);
    visit(Field{"object"}, rows.object...);
    visit(Field{"in_object"}, rows.offset...);
    visit(Field{"stride"}, rows.stride...);
    visit(Field{"span"}, rows.span...);
    visit(Total{"samples"}, rows.samples...);
  }
};

template <>
struct FieldList<RegionValue> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(NeededId{"context"}, rows.context...);
    visit(NeededId{"region"}, rows.region...);
    visit(Field{"part"}, rows.part...);
    visit(Field{"event"}, rows.event...);
    visit(Total{"executions"}, rows.executions...);
    visit(Total{"value"}, rows.value...);
  }
};

// What there is one of.

template <>
struct FieldList<Machine> {
  static constexpr size_t kElsewhere = 1;  // clock, which may be missing
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"architecture"}, rows.architecture...);
    visit(Field{"cpu_model"}, rows.cpu_model...);
    visit(Field{"cpu_id"}, rows.cpu_id...);
    visit(Field{"kernel_release"}, rows.kernel_release...);
    visit(Field{"cpus_online"}, rows.cpus_online...);
    visit(Field{"has_pmu"}, rows.has_pmu...);
    visit(Field{"virtualization"}, rows.virtualization...);
  }
};

template <>
struct FieldList<ClockCalibration> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"clock_hertz"}, rows.hertz...);
    visit(Field{"clock_low_hertz"}, rows.low_hertz...);
    visit(Field{"clock_high_hertz"}, rows.high_hertz...);
    visit(Field{"clock_bursts"}, rows.bursts...);
  }
};

// The last value of each enumeration: numbers beyond it are no value.

template <class T>
inline constexpr T kLastOf = T{};
template <>
inline constexpr Mode kLastOf<Mode> = Mode::hypervisor;
template <>
inline constexpr Unit kLastOf<Unit> = Unit::bytes;
template <>
inline constexpr Provenance kLastOf<Provenance> = Provenance::modelled;
template <>
inline constexpr ImageKind kLastOf<ImageKind> = ImageKind::unknown;
template <>
inline constexpr ObjectKind kLastOf<ObjectKind> = ObjectKind::mapping;
template <>
inline constexpr CacheLevel kLastOf<CacheLevel> = CacheLevel::stlb;
template <>
inline constexpr AccessKind kLastOf<AccessKind> = AccessKind::fetch;
template <>
inline constexpr EdgeKind kLastOf<EdgeKind> = EdgeKind::refetch_conflict;

}  // namespace culprit
