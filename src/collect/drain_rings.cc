#include "collect/drain_rings.h"

#include <span>
#include <vector>

#include "records/parse_record.h"

namespace culprit {

void drain_rings(PerfEvents& events, uint64_t before_ns, SampleProcessor& processor) {
  const RecordLayout& layout = events.layout();
  std::vector<Ring*> rings;
  for (Ring& ring : events.rings()) {
    ring.look();
    rings.push_back(&ring);
  }
  merge_rings(rings, layout, before_ns, [&](std::span<const std::byte> bytes) {
    if (const Result<Record> record = parse_record(bytes, layout)) {
      processor.process(*record);
    } else {
      processor.builder().profile().ledger.add(ledger::kDamagedRecords);
    }
  });
}

}  // namespace culprit
