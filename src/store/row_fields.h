#pragma once

// The fields of every noun, named once: for the tables of the file, for its packed
// segments, and for both directions. `visit_fields(visit, row)` calls visit(name, field)
// for each; `Row` may be const. The names are those of the columns in the file.

#include <type_traits>

#include "model/image_facts.h"
#include "model/merge.h"
#include "model/profile.h"

namespace culprit {

/// A consecutive piece of a source file; its lines follow in a packed part of their own.
struct SourcePiece {
  StringId file;
  uint32_t first_line = 1;
  uint64_t line_count = 0;
};

struct TextRow {
  std::string text;
};

/// A label of a run: tables cannot hold maps.
struct RunLabel {
  RunId run;
  StringId name;
  StringId value;
};

template <class Row, class Noun>
concept Is = std::is_same_v<std::remove_const_t<Row>, Noun>;

// Tables.

void visit_fields(auto&& visit, Is<Run> auto& row) {
  visit("host", row.host);
  visit("command", row.command);
  visit("start_ns", row.start_ns);
  visit("duration_ns", row.duration_ns);
  visit("cpu_time_ns", row.cpu_time_ns);
  visit("wait_status", row.wait_status);
}

void visit_fields(auto&& visit, Is<RunLabel> auto& row) {
  visit("run", row.run);
  visit("name", row.name);
  visit("value", row.value);
}

void visit_fields(auto&& visit, Is<Process> auto& row) {
  visit("run", row.run);
  visit("pid", row.pid);
  visit("parent_pid", row.parent_pid);
  visit("name", row.name);
}

void visit_fields(auto&& visit, Is<Thread> auto& row) {
  visit("process", row.process);
  visit("tid", row.tid);
  visit("name", row.name);
}

void visit_fields(auto&& visit, Is<Context> auto& row) {
  visit("run", row.run);
  visit("process", row.process);
  visit("thread", row.thread);
  visit("mode", row.mode);
  visit("cgroup", row.cgroup);
  visit("label", row.label);
  visit("time_slice", row.time_slice);
}

void visit_fields(auto&& visit, Is<Event> auto& row) {
  visit("name", row.name);
  visit("unit", row.unit);
  visit("provenance", row.provenance);
  visit("engine", row.engine);
  visit("encoding", row.encoding);
  visit("period", row.period);
  visit("scale", row.scale);
}

void visit_fields(auto&& visit, Is<Image> auto& row) {
  visit("kind", row.kind);
  visit("path", row.path);
  visit("build_id", row.build_id);
  visit("inode", row.inode);
  visit("size_bytes", row.size_bytes);
  visit("mtime_ns", row.mtime_ns);
  visit("content_hash", row.content_hash);
  visit("born_ns", row.born_ns);
  visit("died_ns", row.died_ns);
}

void visit_fields(auto&& visit, Is<DataObject> auto& row) {
  visit("kind", row.kind);
  visit("name", row.name);
  visit("type", row.type);
  visit("parent", row.parent);
  visit("site_image", row.site.image);
  visit("site_offset", row.site.offset);
  visit("size_bytes", row.size_bytes);
}

void visit_fields(auto&& visit, Is<Region> auto& row) {
  visit("name", row.name);
  visit("kind", row.kind);
  visit("file", row.file);
  visit("first_line", row.first_line);
  visit("last_line", row.last_line);
  visit("parent", row.parent);
}

// Packed segments.

void visit_fields(auto&& visit, Is<StackNode> auto& row) {
  visit("parent", row.parent);
  visit("image", row.location.image);
  visit("offset", row.location.offset);
}

void visit_fields(auto&& visit, Is<ObjectRange> auto& row) {
  visit("object", row.object);
  visit("context", row.context);
  visit("start", row.start);
  visit("size_bytes", row.size_bytes);
  visit("born_ns", row.born_ns);
  visit("died_ns", row.died_ns);
}

void visit_fields(auto&& visit, Is<HistogramRow> auto& row) {
  visit("context", row.context);
  visit("image", row.location.image);
  visit("offset", row.location.offset);
  visit("event", row.cell.event);
  visit("samples", row.cell.samples);
  visit("value", row.cell.value);
  visit("variance", row.cell.variance);
}

void visit_fields(auto&& visit, Is<StackCount> auto& row) {
  visit("context", row.context);
  visit("stack", row.stack);
  visit("event", row.cell.event);
  visit("samples", row.cell.samples);
  visit("value", row.cell.value);
  visit("variance", row.cell.variance);
}

void visit_fields(auto&& visit, Is<BranchCount> auto& row) {
  visit("context", row.context);
  visit("from_image", row.from.image);
  visit("from_offset", row.from.offset);
  visit("to_image", row.to.image);
  visit("to_offset", row.to.offset);
  visit("count", row.count);
  visit("mispredicted", row.mispredicted);
  visit("cycles", row.cycles);
  visit("judged", row.judged);
  visit("timed", row.timed);
}

void visit_fields(auto&& visit, Is<FallThrough> auto& row) {
  visit("context", row.context);
  visit("image", row.image);
  visit("from", row.from);
  visit("to", row.to);
  visit("count", row.count);
}

void visit_fields(auto&& visit, Is<MemorySample> auto& row) {
  visit("context", row.context);
  visit("event", row.event);
  visit("image", row.location.image);
  visit("offset", row.location.offset);
  visit("data_address", row.data_address);
  visit("object", row.object);
  visit("source", row.source);
  visit("latency_cycles", row.latency_cycles);
  visit("time_ns", row.time_ns);
  visit("instruction_latency_cycles", row.instruction_latency_cycles);
  visit("physical_address", row.physical_address);
  visit("data_page_bytes", row.data_page_bytes);
}

void visit_fields(auto&& visit, Is<Count> auto& row) {
  visit("context", row.context);
  visit("event", row.event);
  visit("interval", row.interval);
  visit("repetition", row.repetition);
  visit("value", row.value);
  visit("time_enabled_ns", row.time_enabled_ns);
  visit("time_running_ns", row.time_running_ns);
}

void visit_fields(auto&& visit, Is<Access> auto& row) {
  visit("context", row.context);
  visit("image", row.location.image);
  visit("offset", row.location.offset);
  visit("object", row.object);
  visit("level", row.level);
  visit("kind", row.kind);
  visit("count", row.count);
  visit("misses", row.misses);
  visit("bytes", row.bytes);
}

void visit_fields(auto&& visit, Is<Tenure> auto& row) {
  visit("context", row.context);
  visit("image", row.location.image);
  visit("offset", row.location.offset);
  visit("object", row.object);
  visit("level", row.level);
  visit("kind", row.kind);
  visit("lines", row.lines);
  visit("bytes_touched", row.bytes_touched);
  visit("bytes_accessed", row.bytes_accessed);
  visit("touches", row.touches);
  visit("lines_at_end", row.lines_at_end);
}

void visit_fields(auto&& visit, Is<Edge> auto& row) {
  visit("from_context", row.from_context);
  visit("to_context", row.to_context);
  visit("from_image", row.from.image);
  visit("from_offset", row.from.offset);
  visit("to_image", row.to.image);
  visit("to_offset", row.to.offset);
  visit("object", row.object);
  visit("level", row.level);
  visit("kind", row.kind);
  visit("count", row.count);
}

void visit_fields(auto&& visit, Is<RegionValue> auto& row) {
  visit("context", row.context);
  visit("region", row.region);
  visit("part", row.part);
  visit("event", row.event);
  visit("executions", row.executions);
  visit("value", row.value);
}

// Parts of ImageFacts.

void visit_fields(auto&& visit, Is<SegmentFact> auto& row) {
  visit("begin", row.begin);
  visit("size_bytes", row.size_bytes);
  visit("link_address", row.link_address);
}

void visit_fields(auto&& visit, Is<FunctionFact> auto& row) {
  visit("begin", row.begin);
  visit("end", row.end);
  visit("name", row.name);
  visit("linkage_name", row.linkage_name);
  visit("file", row.file);
  visit("line", row.line);
}

void visit_fields(auto&& visit, Is<LineFact> auto& row) {
  visit("offset", row.offset);
  visit("file", row.file);
  visit("line", row.line);
  visit("column", row.column);
  visit("discriminator", row.discriminator);
}

void visit_fields(auto&& visit, Is<InlineFact> auto& row) {
  visit("begin", row.begin);
  visit("end", row.end);
  visit("depth", row.depth);
  visit("name", row.name);
  visit("call_file", row.call_file);
  visit("call_line", row.call_line);
  visit("linkage_name", row.linkage_name);
  visit("line", row.line);
  visit("call_discriminator", row.call_discriminator);
}

void visit_fields(auto&& visit, Is<BlockFact> auto& row) {
  visit("begin", row.begin);
  visit("size_bytes", row.size_bytes);
}

void visit_fields(auto&& visit, Is<CodeFact> auto& row) {
  visit("begin", row.begin);
  visit("bytes", row.bytes);
}

void visit_fields(auto&& visit, Is<SourcePiece> auto& row) {
  visit("file", row.file);
  visit("first_line", row.first_line);
  visit("line_count", row.line_count);
}

void visit_fields(auto&& visit, Is<TextRow> auto& row) {
  visit("text", row.text);
}

}  // namespace culprit
