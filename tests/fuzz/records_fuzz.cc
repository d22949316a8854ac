// libFuzzer target: every parser of room `records` on bytes from anywhere.
//
// The first bytes choose parser, byte order and layout; the rest is its input.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "records/address_spaces.h"
#include "records/callchain.h"
#include "records/elf_identity.h"
#include "records/event_attr.h"
#include "records/jitdump.h"
#include "records/parse_record.h"
#include "records/perf_map.h"
#include "records/proc_text.h"

namespace {

using namespace culprit;

void fuzz_records(std::span<const std::byte> bytes, std::endian order) {
  const auto attr = parse_event_attr(bytes, order);
  if (!attr) return;
  const RecordLayout* const layout = &attr->layout;
  bytes = bytes.subspan(64);
  AddressSpaces spaces;
  while (const auto header = parse_header(bytes, order)) {
    (void)find_record_time(bytes, *layout);
    if (const auto record = parse_record(bytes, *layout)) {
      if (const auto* map = std::get_if<MmapRecord>(&record->body)) {
        spaces.map(map->pid, {map->start, map->start + map->length, map->file_offset, 0});
        if (spaces.find(map->pid, map->start) == nullptr && map->start + map->length > map->start) {
          __builtin_trap();
        }
      }
      if (const auto* sample = std::get_if<SampleRecord>(&record->body)) {
        if (split_callchain(sample->callchain, sample->mode).size() > sample->callchain.size()) {
          __builtin_trap();
        }
      }
    }
    bytes = bytes.subspan(header->size);
  }
}

void fuzz_jitdump(std::span<const std::byte> bytes) {
  const auto header = parse_jitdump_header(bytes);
  if (!header) return;
  std::vector<JitRecord> records;
  size_t consumed = 0;
  (void)parse_jitdump(bytes.subspan(header->header_bytes), header->order, records, consumed)
      .has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t consumed = 0;
  switch (data[0] % 7) {
    case 0:
      fuzz_records(bytes, std::endian::little);
      break;
    case 1:
      fuzz_records(bytes, std::endian::big);
      break;
    case 2:
      fuzz_jitdump(bytes);
      break;
    case 3:
      (void)parse_perf_map(text, consumed);
      break;
    case 4:
      (void)parse_proc_maps(text);
      break;
    case 5:
      (void)parse_proc_modules(text);
      break;
    case 6:
      (void)parse_elf_identity(bytes).has_value();
      break;
  }
  return 0;
}
