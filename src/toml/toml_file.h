#pragma once

// The text of a TOML file as a tree of values that know their line.
//
//     const TomlFile file = parse_toml(text, "zen4.toml");
//     TomlSection root(file);  // toml_section.h
//
// Text that is no TOML gives an empty file with its mistake, so that a reader has one place
// to look for what is wrong: the end.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace culprit {

/// The first thing that is wrong with a file.
struct TomlMistake {
  std::string file;
  uint32_t line = 0;  // 0: unknown
  std::string what;

  /// "zen4.toml, line 12: what"
  [[nodiscard]] Error error() const;
};

struct TomlEntry;

struct TomlValue {
  using Array = std::vector<TomlValue>;
  using Table = std::vector<TomlEntry>;  // in the order of their names

  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Table> value;
  uint32_t line = 0;

  [[nodiscard]] const Table* table() const { return std::get_if<Table>(&value); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&value); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value); }
};

struct TomlEntry {
  std::string key;
  TomlValue value;
};

struct TomlFile {
  std::string name;
  TomlValue root;  // a table
  std::optional<TomlMistake> mistake;
};

/// `name` is for messages.
TomlFile parse_toml(std::string_view text, const std::string& name);

}  // namespace culprit
