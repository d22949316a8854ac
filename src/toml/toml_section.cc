#include "toml/toml_section.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace culprit {
namespace {

std::optional<double> number_of(const TomlValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value.value)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value.value)) return *number;
  return std::nullopt;
}

}  // namespace

TomlSection::TomlSection(TomlFile& file) : TomlSection(file, &file.root, "") {}

TomlSection::TomlSection(TomlFile& file, const TomlValue* table, std::string path)
    : file_(&file), table_(table), path_(std::move(path)) {}

TomlSection TomlSection::section(const std::string& key) {
  const TomlValue* value = take(key);
  const bool is_table = value != nullptr && value->table() != nullptr;
  if (value != nullptr && !is_table) add(*value, name(key) + " is a section");
  return {*file_, is_table ? value : nullptr, name(key)};
}

std::vector<TomlSection> TomlSection::sections(const std::string& key) {
  std::vector<TomlSection> out;
  const TomlValue* value = take(key);
  if (value == nullptr) return out;
  const TomlValue::Array* array = value->array();
  if (array == nullptr) {
    add(*value, fmt::format("{0} is a list of sections, [[{0}]]", name(key)));
    return out;
  }
  for (const TomlValue& item : *array) {
    if (item.table() == nullptr) {
      add(item, fmt::format("{0} is a list of sections, [[{0}]]", name(key)));
      return out;
    }
    out.push_back({*file_, &item, name(key)});
  }
  return out;
}

std::vector<std::pair<std::string, TomlSection>> TomlSection::all_sections() {
  std::vector<std::pair<std::string, TomlSection>> out;
  if (table_ == nullptr) return out;
  for (const auto& [key, value] : *table_->table()) out.emplace_back(key, section(key));
  return out;
}

std::optional<uint64_t> TomlSection::read_integer(const std::string& key, uint64_t least,
                                                  uint64_t most) {
  const TomlValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  const auto* read = std::get_if<int64_t>(&value->value);
  if (read == nullptr || *read < 0 || static_cast<uint64_t>(*read) < least ||
      static_cast<uint64_t>(*read) > most) {
    add(*value, fmt::format("{} is a whole number from {} to {}", name(key), least, most));
    return std::nullopt;
  }
  return static_cast<uint64_t>(*read);
}

std::optional<size_t> TomlSection::read_choice(const std::string& key,
                                               const std::vector<std::string>& words) {
  const TomlValue* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (const std::string* word = value->text()) {
    const auto found = std::find(words.begin(), words.end(), *word);
    if (found != words.end()) return static_cast<size_t>(found - words.begin());
  }
  add(*value, fmt::format("{} is one of \"{}\"", name(key), fmt::join(words, "\", \"")));
  return std::nullopt;
}

void TomlSection::number(const std::string& key, double& value, double least, double most) {
  const TomlValue* found = take(key);
  if (found == nullptr) return;
  const std::optional<double> read = number_of(*found);
  if (!read || !(*read >= least && *read <= most)) {
    add(*found, fmt::format("{} is a number from {} to {}", name(key), least, most));
    return;
  }
  value = *read;
}

void TomlSection::boolean(const std::string& key, bool& value) {
  const TomlValue* found = take(key);
  if (found == nullptr) return;
  const bool* read = std::get_if<bool>(&found->value);
  if (read == nullptr) {
    add(*found, name(key) + " is true or false");
    return;
  }
  value = *read;
}

void TomlSection::text(const std::string& key, std::string& value) {
  const TomlValue* found = take(key);
  if (found == nullptr) return;
  if (found->text() == nullptr) {
    add(*found, name(key) + " is a text in quotes");
    return;
  }
  value = *found->text();
}

void TomlSection::texts(const std::string& key, std::vector<std::string>& value) {
  const TomlValue* found = take(key);
  if (found == nullptr) return;
  value.clear();
  const TomlValue::Array* array = found->array();
  if (array == nullptr) {
    add(*found, name(key) + " is a list of texts, [\"...\"]");
    return;
  }
  for (const TomlValue& item : *array) {
    if (item.text() == nullptr) {
      add(item, name(key) + " is a list of texts, [\"...\"]");
      return;
    }
    value.push_back(*item.text());
  }
}

void TomlSection::numbers(const std::string& key, std::vector<double>& value, double least,
                          double most) {
  const TomlValue* found = take(key);
  if (found == nullptr) return;
  value.clear();
  const TomlValue::Array none;
  const TomlValue::Array* array = found->array();
  for (const TomlValue& item : array == nullptr ? none : *array) {
    const std::optional<double> read = number_of(item);
    if (!read || !(*read >= least && *read <= most)) break;
    value.push_back(*read);
  }
  if (array == nullptr || value.size() != array->size()) {
    add(*found, fmt::format("{} is a list of numbers from {} to {}", name(key), least, most));
  }
}

void TomlSection::needs(std::initializer_list<const char*> keys) {
  if (table_ == nullptr) return;
  for (const char* key : keys) {
    const TomlValue* value = find(key);
    if (value == nullptr) {
      add(*table_, fmt::format("there is no {} here", name(key)));
    } else if (value->text() != nullptr &&
               value->text()->find_first_not_of(' ') == std::string::npos) {
      add(*value, name(key) + " is empty");
    }
  }
}

bool TomlSection::has(const std::string& key) const {
  return find(key) != nullptr;
}

void TomlSection::end() {
  if (table_ == nullptr) return;
  for (const auto& [key, value] : *table_->table()) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    add(value, fmt::format("there is no key {} here; there are {}", printable(name(key)),
                           fmt::join(known_, ", ")));
  }
}

void TomlSection::mistake(const std::string& key, const std::string& what) {
  const TomlValue* value = find(key);
  if (value == nullptr) value = table_;
  add(value == nullptr ? file_->root : *value, what);
}

uint32_t TomlSection::line() const {
  return table_ == nullptr ? 0 : table_->line;
}

uint32_t TomlSection::line(const std::string& key) const {
  const TomlValue* value = find(key);
  return value == nullptr ? line() : value->line;
}

std::string TomlSection::name(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

const TomlValue* TomlSection::find(const std::string& key) const {
  if (table_ == nullptr) return nullptr;
  const TomlValue::Table& entries = *table_->table();
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const TomlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

const TomlValue* TomlSection::take(const std::string& key) {
  known_.push_back(key);
  return find(key);
}

void TomlSection::add(const TomlValue& at, const std::string& what) {
  if (!file_->mistake) file_->mistake = TomlMistake{file_->name, at.line, what};
}

}  // namespace culprit
