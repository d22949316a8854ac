#include "store/facts.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "store/check_rows.h"
#include "store/packed_rows.h"
#include "store/table_rows.h"

namespace culprit {

namespace {

// The id of a part: the image's number, then a running number, so that the parts of an
// image are neighbours and need no index.
constexpr int kPartBits = 16;
uint64_t first_part(ImageId image) {
  return uint64_t{image.value} << kPartBits;
}

class PartWriter {
 public:
  PartWriter(const Database& database, ImageId image, const StringTable& strings)
      : database_(database), id_(first_part(image)), end_(id_ + (1 << kPartBits)) {
    sizes_.of(StringId()) = strings.size();
  }

  template <class Row>
  Result<void> put(std::string_view part, std::span<const Row> rows) {
    RETURN_IF_ERROR(check_rows(part, rows, sizes_));
    ASSIGN_OR_RETURN(Statement insert,
                     database_.prepare("INSERT INTO facts VALUES(?, ?, ?, ?, ?)"));
    while (!rows.empty()) {
      if (id_ == end_) return Error{"too many facts of one image"};
      ASSIGN_OR_RETURN(const PackedPiece piece, pack_rows(rows));
      insert.bind(0, id_++);
      insert.bind(1, part);
      insert.bind(2, piece.rows);
      insert.bind(3, piece.raw_bytes);
      insert.bind_blob(4, piece.data);
      RETURN_IF_ERROR(insert.run());
      packed_bytes_ += piece.data.size();
    }
    return {};
  }

  [[nodiscard]] uint64_t packed_bytes() const { return packed_bytes_; }

 private:
  const Database& database_;
  TableSizes sizes_;
  uint64_t id_;
  uint64_t end_;
  uint64_t packed_bytes_ = 0;
};

std::vector<TextRow> texts_of(const StringTable& strings) {
  std::vector<TextRow> rows;
  rows.reserve(strings.size());
  for (size_t i = 0; i < strings.size(); ++i) rows.push_back({strings.text(StringId(i))});
  return rows;
}

Result<void> put_sources(PartWriter& writer, const std::vector<SourceFact>& sources) {
  std::vector<SourcePiece> pieces;
  std::vector<TextRow> lines;
  for (const SourceFact& source : sources) {
    pieces.push_back({source.file, source.first_line, source.lines.size()});
    for (const std::string& line : source.lines) lines.push_back({line});
  }
  RETURN_IF_ERROR(writer.put("sources", std::span<const SourcePiece>(pieces)));
  return writer.put("source_lines", std::span<const TextRow>(lines));
}

Result<void> remove_facts(const Database& database, ImageId image) {
  ASSIGN_OR_RETURN(Statement remove,
                   database.prepare("DELETE FROM facts WHERE id >= ? AND id < ?"));
  remove.bind(0, first_part(image));
  remove.bind(1, first_part(image) + (1 << kPartBits));
  return remove.run();
}

Result<void> put_summary(const Database& database, ImageId image, const ImageFacts& facts) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT OR REPLACE INTO image_facts VALUES(?, ?, ?, ?, ?, ?)"));
  insert.bind(0, uint64_t{image.value});
  bind_field(insert, 1, facts.architecture);
  bind_field(insert, 2, facts.symbol_source);
  bind_field(insert, 3, facts.has_lines);
  bind_field(insert, 4, facts.debug_file);
  bind_field(insert, 5, facts.missing);
  return insert.run();
}

// --- reading ----------------------------------------------------------------------------

/// What was read of `sources`, before it is put together.
struct SourceParts {
  std::vector<SourcePiece> pieces;
  std::vector<TextRow> lines;
};

/// The first text of all is the empty one, which every table has.
Result<void> unpack_strings(uint64_t rows, uint64_t raw_bytes, std::string_view data,
                            StringTable& strings, bool& has_first) {
  std::vector<TextRow> texts;
  RETURN_IF_ERROR(unpack_rows(rows, raw_bytes, data, texts));
  for (TextRow& row : texts) {
    if (has_first) {
      strings.append(std::move(row.text));
    } else if (!row.text.empty()) {
      return Error{"the first one is not empty"};
    }
    has_first = true;
  }
  return {};
}

/// Joins lines to pieces: each piece takes its lines in turn.
Result<void> join_sources(SourceParts& parts, std::vector<SourceFact>& sources) {
  size_t at = 0;
  for (const SourcePiece& piece : parts.pieces) {
    if (piece.line_count > parts.lines.size() - at) return Error{"it has too few source lines"};
    SourceFact source{piece.file, piece.first_line, {}};
    source.lines.reserve(piece.line_count);
    for (uint64_t i = 0; i < piece.line_count; ++i) {
      source.lines.push_back(std::move(parts.lines[at++].text));
    }
    sources.push_back(std::move(source));
  }
  return {};
}

template <class Row, class Key>
void restore_order(std::vector<Row>& rows, const Key& key) {
  const auto less = [&](const Row& a, const Row& b) { return key(a) < key(b); };
  if (!std::is_sorted(rows.begin(), rows.end(), less)) std::sort(rows.begin(), rows.end(), less);
}

template <class Row>
bool has_backward_range(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.end < r.begin; });
}

Result<void> check_facts(ImageFacts& facts) {
  TableSizes sizes;
  sizes.of(StringId()) = facts.strings.size();
  RETURN_IF_ERROR(check_rows("functions", std::span<const FunctionFact>(facts.functions), sizes));
  RETURN_IF_ERROR(check_rows("lines", std::span<const LineFact>(facts.lines), sizes));
  RETURN_IF_ERROR(check_rows("inlines", std::span<const InlineFact>(facts.inlines), sizes));
  RETURN_IF_ERROR(check_rows("fields", std::span<const FieldFact>(facts.fields), sizes));
  for (const SourceFact& source : facts.sources) {
    if (!source.file.is_all() && source.file.value >= sizes.of(StringId())) {
      return Error{"a source file without a name"};
    }
  }
  if (has_backward_range(facts.functions) || has_backward_range(facts.inlines)) {
    return Error{"a range ends before it begins"};
  }
  restore_order(facts.functions, [](const FunctionFact& f) { return std::tie(f.begin, f.end); });
  restore_order(facts.lines, [](const LineFact& f) { return f.offset; });
  restore_order(facts.inlines, [](const InlineFact& f) { return std::tie(f.begin, f.depth); });
  restore_order(facts.blocks, [](const BlockFact& f) { return f.begin; });
  restore_order(facts.jumps, [](const JumpFact& f) { return std::tie(f.from, f.to); });
  restore_order(facts.fields, [](const FieldFact& f) {
    return std::tie(f.is_call, f.place, f.variable, f.offset);
  });
  restore_order(facts.code, [](const CodeFact& f) { return f.begin; });
  return {};
}

Result<void> read_parts(const Database& database, ImageId image, FactParts wanted,
                        ImageFacts& facts) {
  ASSIGN_OR_RETURN(Statement query,
                   database.prepare("SELECT id, part, rows, raw_bytes, data FROM facts "
                                    "WHERE id >= ? AND id < ?"));
  const uint64_t begin = first_part(image);
  query.bind(0, begin);
  query.bind(1, begin + (1 << kPartBits));
  SourceParts sources;
  bool has_strings = false;
  int64_t last_id = -1;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_row, query.step());
    if (!has_row) break;
    const int64_t id = query.integer(0).value_or(-1);
    if (id <= last_id) return Error{"its parts are out of order"};
    last_id = id;
    const std::string part(query.text(1).value_or(""));
    const auto rows = static_cast<uint64_t>(query.integer(2).value_or(-1));
    const auto raw_bytes = static_cast<uint64_t>(query.integer(3).value_or(-1));
    const auto unpack = [&](auto& out) {
      return unpack_rows(rows, raw_bytes, query.text(4).value_or(""), out);
    };
    Result<void> good;
    if (part == "strings") {
      good =
          unpack_strings(rows, raw_bytes, query.text(4).value_or(""), facts.strings, has_strings);
    } else if (part == "segments") {
      good = unpack(facts.segments);
    } else if (part == "fields") {
      good = unpack(facts.fields);
    } else if (part == "functions" && wanted.has(FactPart::functions)) {
      good = unpack(facts.functions);
    } else if (part == "lines" && wanted.has(FactPart::lines)) {
      good = unpack(facts.lines);
    } else if (part == "inlines" && wanted.has(FactPart::inlines)) {
      good = unpack(facts.inlines);
    } else if (part == "blocks" && wanted.has(FactPart::blocks)) {
      good = unpack(facts.blocks);
    } else if (part == "jumps") {
      good = unpack(facts.jumps);
    } else if (part == "code" && (wanted.has(FactPart::code) ||
                                  (wanted.has(FactPart::blocks) && facts.blocks.empty()))) {
      good = unpack(facts.code);
    } else if (part == "sources" && wanted.has(FactPart::sources)) {
      good = unpack(sources.pieces);
    } else if (part == "source_lines" && wanted.has(FactPart::sources)) {
      good = unpack(sources.lines);
    }
    if (!good) return Error{part + ": " + good.error().message};
  }
  RETURN_IF_ERROR(join_sources(sources, facts.sources));
  return check_facts(facts);
}

}  // namespace

Result<uint64_t> replace_facts(const Database& database, ImageId image, const ImageFacts& facts) {
  if (image.is_all()) return Error{"facts of no image"};
  RETURN_IF_ERROR(remove_facts(database, image));
  RETURN_IF_ERROR(put_summary(database, image, facts));
  PartWriter writer(database, image, facts.strings);
  RETURN_IF_ERROR(writer.put("strings", std::span<const TextRow>(texts_of(facts.strings))));
  RETURN_IF_ERROR(writer.put("segments", std::span<const SegmentFact>(facts.segments)));
  RETURN_IF_ERROR(writer.put("fields", std::span<const FieldFact>(facts.fields)));
  RETURN_IF_ERROR(writer.put("functions", std::span<const FunctionFact>(facts.functions)));
  RETURN_IF_ERROR(writer.put("lines", std::span<const LineFact>(facts.lines)));
  RETURN_IF_ERROR(writer.put("inlines", std::span<const InlineFact>(facts.inlines)));
  RETURN_IF_ERROR(writer.put("jumps", std::span<const JumpFact>(facts.jumps)));
  // Blocks are written before the code: whoever has read them can do without it.
  RETURN_IF_ERROR(writer.put("blocks", std::span<const BlockFact>(facts.blocks)));
  RETURN_IF_ERROR(writer.put("code", std::span<const CodeFact>(facts.code)));
  RETURN_IF_ERROR(put_sources(writer, facts.sources));
  return writer.packed_bytes();
}

Result<std::optional<ImageFacts>> read_image_facts(const Database& database, ImageId image,
                                                   FactParts parts) {
  if (image.is_all()) return std::nullopt;
  ASSIGN_OR_RETURN(Statement query,
                   database.prepare("SELECT architecture, symbol_source, has_lines, debug_file, "
                                    "missing FROM image_facts WHERE id = ?"));
  query.bind(0, uint64_t{image.value});
  ASSIGN_OR_RETURN(const bool has_row, query.step());
  if (!has_row) return std::nullopt;
  ImageFacts facts;
  Result<void> good;
  if (!take_field(query, 0, facts.architecture) || !take_field(query, 1, facts.symbol_source) ||
      !take_field(query, 2, facts.has_lines) || !take_field(query, 3, facts.debug_file) ||
      !take_field(query, 4, facts.missing)) {
    good = Error{"its summary makes no sense"};
  } else {
    good = read_parts(database, image, parts, facts);
  }
  if (!good) {
    return Error{fmt::format("{} is damaged: facts of image {}: {}", in_quotes(database.path()),
                             image.value, good.error().message)};
  }
  return facts;
}

}  // namespace culprit
