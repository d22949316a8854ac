#pragma once

// One parser per record kind, for the table in parse_record.cc. Each takes the
// fields between header and trailer; a SAMPLE has no trailer and fills in the
// origin itself.

#include "base/bytes.h"
#include "records/parse_record.h"

namespace culprit {

struct BodyInput {
  ByteReader in;
  RecordHeader header;
  const RecordLayout& layout;
  RecordOrigin& origin;
};

using BodyParser = Result<RecordBody> (*)(BodyInput& input);

// task_records.cc
Result<RecordBody> parse_comm(BodyInput& input);
Result<RecordBody> parse_fork(BodyInput& input);
Result<RecordBody> parse_exit(BodyInput& input);
Result<RecordBody> parse_switch(BodyInput& input);
Result<RecordBody> parse_switch_cpu_wide(BodyInput& input);
Result<RecordBody> parse_namespaces(BodyInput& input);
Result<RecordBody> parse_cgroup(BodyInput& input);

// mapping_records.cc
Result<RecordBody> parse_mmap(BodyInput& input);
Result<RecordBody> parse_mmap2(BodyInput& input);
Result<RecordBody> parse_ksymbol(BodyInput& input);

// loss_records.cc
Result<RecordBody> parse_lost(BodyInput& input);
Result<RecordBody> parse_lost_samples(BodyInput& input);
Result<RecordBody> parse_throttle(BodyInput& input);

// sample_record.cc
Result<void> parse_sample(BodyInput& input, SampleRecord& sample);  // large: made in its place
Result<RecordBody> parse_read(BodyInput& input);

}  // namespace culprit
