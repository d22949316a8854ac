#include "exports/pprof_tables.h"

#include <algorithm>

#include "base/text.h"
#include "exports/pprof_fields.h"
#include <protozero/pbf_builder.hpp>

namespace culprit {

using namespace pprof;

namespace {

/// The row of `key` in a table numbered from 1, which it is added to if it is new.
template <class Ids, class Key, class Table, class Row>
uint64_t intern(Ids& ids, const Key& key, Table& table, Row&& row) {
  const auto [at, is_new] = ids.try_emplace(key, table.size() + 1);
  if (is_new) table.push_back(std::forward<Row>(row));
  return at->second;
}

const SegmentFact* find_segment(const ImageFacts* facts, FileOffset offset) {
  if (facts == nullptr) return nullptr;
  for (const SegmentFact& segment : facts->segments) {
    if (offset >= segment.begin && offset - segment.begin < segment.size_bytes) return &segment;
  }
  return nullptr;
}

}  // namespace

int64_t PprofTables::string(std::string_view text) {
  const auto [at, is_new] =
      string_ids_.try_emplace(printable(text), static_cast<int64_t>(strings_.size()));
  if (is_new) strings_.push_back(at->first);
  return at->second;
}

uint64_t PprofTables::mapping(ImageId image) {
  if (code_.image(image) == nullptr) return 0;
  Mapping row;
  row.image = image;
  return intern(mapping_ids_, image, mappings_, row);
}

uint64_t PprofTables::function(const Function& row) {
  return intern(function_ids_, row, functions_, row);
}

uint64_t PprofTables::location(const Location& at) {
  const auto known = location_ids_.find(at);
  if (known != location_ids_.end()) return known->second;
  PlacedLocation row;
  row.mapping = mapping(at.image);
  row.address = code_.link_address(at).value;
  Mapping* image = row.mapping == 0 ? nullptr : &mappings_[row.mapping - 1];
  if (image != nullptr) {
    image->lowest = std::min(image->lowest, at.offset);
    image->highest = std::max(image->highest, at.offset);
  }
  row.lines = lines(at, image);
  return intern(location_ids_, at, locations_, std::move(row));
}

/// There are none where nothing is known: pprof then shows the address.
std::vector<PprofTables::Line> PprofTables::lines(const Location& at, Mapping* mapping) {
  const Image* image = code_.image(at.image);
  const std::vector<Frame> frames = code_.frames(at);
  std::vector<Line> lines;
  if (frames.empty() && image != nullptr && image->kind == ImageKind::jit) {
    lines.push_back({function({string(code_.unnamed(at)), 0, 0, 0}), 0});
  }
  if (frames.empty() || mapping == nullptr) return lines;
  const ImageFacts& facts = *code_.facts(at.image);
  const uint32_t symbol = code_.find(at).function;
  for (const Frame& frame : frames) {
    const std::string& name = facts.strings.text(frame.function);
    Function row;
    row.name = string(name.empty() ? code_.unnamed(at) : name);
    row.file = string(facts.strings.text(frame.file));
    if (!frame.inlined && symbol != CodePlace::kNone) {
      const FunctionFact& fact = facts.functions[symbol];
      row.system_name = string(facts.strings.text(fact.linkage_name));
      if (row.file == 0) row.file = string(facts.strings.text(fact.file));
      row.line = fact.line;
    }
    if (row.system_name == 0) row.system_name = row.name;
    mapping->functions = mapping->functions || !name.empty();
    mapping->files = mapping->files || row.file != 0;
    mapping->lines = mapping->lines || frame.line != 0;
    mapping->inlined = mapping->inlined || frame.inlined;
    lines.push_back({function(row), frame.line});
  }
  return lines;
}

void PprofTables::write_mapping(std::string& message, uint64_t id, const Mapping& mapping) {
  const Image& image = *code_.image(mapping.image);
  const ImageFacts* facts = code_.facts(mapping.image);
  const SegmentFact* first = find_segment(facts, mapping.lowest);
  const SegmentFact* last = find_segment(facts, mapping.highest);
  protozero::pbf_builder<MappingField> row(message);
  row.add_uint64(MappingField::id, id);
  row.add_uint64(MappingField::memory_start, first == nullptr ? 0 : first->link_address.value);
  row.add_uint64(MappingField::memory_limit,
                 last == nullptr ? code_.link_address({mapping.image, mapping.highest}).value + 1
                                 : (last->link_address + last->size_bytes).value);
  row.add_uint64(MappingField::file_offset, first == nullptr ? 0 : first->begin.value);
  row.add_int64(MappingField::filename, string(code_.module(mapping.image)));
  row.add_int64(MappingField::build_id, string(image.build_id));
  row.add_bool(MappingField::has_functions, mapping.functions);
  row.add_bool(MappingField::has_filenames, mapping.files);
  row.add_bool(MappingField::has_line_numbers, mapping.lines);
  row.add_bool(MappingField::has_inline_frames, mapping.inlined);
}

void PprofTables::write_location(std::string& message, uint64_t id,
                                 const PlacedLocation& location) {
  protozero::pbf_builder<LocationField> row(message);
  row.add_uint64(LocationField::id, id);
  row.add_uint64(LocationField::mapping_id, location.mapping);
  row.add_uint64(LocationField::address, location.address);
  for (const Line& line : location.lines) {
    protozero::pbf_builder<LineField> part(row, LocationField::line);
    part.add_uint64(LineField::function_id, line.function);
    part.add_int64(LineField::line, line.line);
  }
}

void PprofTables::write_function(std::string& message, uint64_t id, const Function& function) {
  protozero::pbf_builder<FunctionField> row(message);
  row.add_uint64(FunctionField::id, id);
  row.add_int64(FunctionField::name, function.name);
  row.add_int64(FunctionField::system_name, function.system_name);
  row.add_int64(FunctionField::filename, function.file);
  row.add_int64(FunctionField::start_line, function.line);
}

void PprofTables::write(std::string& message) {
  protozero::pbf_builder<ProfileField> profile(message);
  std::string row;
  const auto write_rows = [&](ProfileField field, const auto& table, auto write_row) {
    for (size_t index = 0; index < table.size(); ++index) {
      row.clear();
      (this->*write_row)(row, index + 1, table[index]);
      profile.add_message(field, row);
    }
  };
  write_rows(ProfileField::mapping, mappings_, &PprofTables::write_mapping);
  write_rows(ProfileField::location, locations_, &PprofTables::write_location);
  write_rows(ProfileField::function, functions_, &PprofTables::write_function);
  for (const std::string& text : strings_) profile.add_string(ProfileField::string_table, text);
}

}  // namespace culprit
