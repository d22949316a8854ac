#include "report/row_names.h"

#include <functional>
#include <tuple>

namespace culprit {

template <class Keep>
Name NamePool::find_or_add(std::string_view text, Keep keep) {
  const uint32_t word = index_.find_or_add(std::hash<std::string_view>()(text), words_.size(),
                                           [&](size_t known) { return *words_[known] == text; });
  if (word == words_.size()) words_.push_back(&keep());
  return Name(*words_[word]);
}

Name NamePool::lasting(const std::string& text) {
  return find_or_add(text, [&]() -> const std::string& { return text; });
}

Name NamePool::name(std::string_view text) {
  return find_or_add(text, [&]() -> const std::string& { return own_.emplace_back(text); });
}

ReportRow to_row(const RowNames& names) {
  const auto text = [](Name name) {
    return name ? std::optional<std::string>(*name) : std::nullopt;
  };
  ReportRow row;
  row.process = text(names.process);
  row.thread = text(names.thread);
  row.module = text(names.module);
  row.function = text(names.function);
  row.file = text(names.file);
  row.object = text(names.object);
  row.region = text(names.region);
  row.region_path = text(names.region_path);
  row.process_id = names.process_id;
  row.thread_id = names.thread_id;
  row.line = names.line;
  row.address = names.address;
  row.end_address = names.end_address;
  row.inlined = names.inlined;
  row.skid = names.skid;
  return row;
}

bool SameNames::operator()(const RowNames& a, const RowNames& b) const {
  const auto identity = [](const RowNames& row) {
    return std::tie(row.address, row.line, row.function, row.file, row.module, row.end_address,
                    row.process, row.process_id, row.thread, row.thread_id, row.object, row.region,
                    row.region_path);
  };
  return identity(a) == identity(b) && (!a.function || a.inlined == b.inlined);
}

size_t NamesHash::operator()(const RowNames& row) const noexcept {
  uint64_t hash = row.function && row.inlined ? 1 : 0;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  const auto mix_name = [&mix](Name name) { mix(std::hash<Name>()(name)); };
  mix(uint64_t{row.process_id.value_or(0)} << 32 | row.thread_id.value_or(0));
  mix(row.address.value_or(0));
  mix(row.line.value_or(0));
  mix_name(row.process);
  mix_name(row.thread);
  mix_name(row.module);
  mix_name(row.function);
  mix_name(row.file);
  mix_name(row.object);
  mix_name(row.region);
  mix_name(row.region_path);
  return static_cast<size_t>(hash);
}

}  // namespace culprit
