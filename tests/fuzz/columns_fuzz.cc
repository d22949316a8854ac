// The column codec alone: what lies under the structures of SQLite and zstd is
// seldom reached by changing bytes of a whole profile.

#include <algorithm>
#include <cstdint>

#include "store/packed_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace culprit;
  if (size < 2) return 0;
  const uint64_t rows = data[0];
  const bool is_text = (data[1] & 1) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::vector<ColumnSpec> specs =
      is_text ? column_specs<CodeFact>() : column_specs<HistogramRow>();
  const Result<std::vector<DecodedColumn>> columns = decode_columns(bytes, rows, specs);
  if (!columns) return 0;
  for (const DecodedColumn& column : *columns) {
    const uint64_t stored = column.is_constant ? std::min<uint64_t>(rows, 1) : rows;
    CHECK(column.numbers.size() == (column.present ? stored : 0));
    uint64_t text_bytes = 0;
    if (!column.bytes.empty()) {
      for (const uint64_t length : column.numbers) text_bytes += length;
      CHECK(text_bytes == column.bytes.size());
    }
  }
  return 0;
}
