#pragma once

// A table of a TOML file, read key by key: each with what is allowed for it.
//
//     TomlFile file = parse_toml(text, "small-core.toml");
//     TomlSection root(file);
//     root.text("name", machine.name);
//     TomlSection cache = root.section("l1d");
//     cache.integer("ways", ways, 1, 64);
//     cache.end();
//     root.end();
//     if (file.mistake) return file.mistake->error();   // the first of all
//
// A key that is absent leaves its value as it is; needs() says which must be there. A key that
// nobody asked for is a mistake, too: it would else be a figure that silently does nothing.

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "toml/toml_file.h"

namespace culprit {

class TomlSection {
 public:
  /// The whole file, which must outlive it.
  explicit TomlSection(TomlFile& file);

  /// A table of it; empty if the file does not have it.
  TomlSection section(const std::string& key);
  /// An array of tables, [[key]].
  std::vector<TomlSection> sections(const std::string& key);
  /// Every entry must be a table: their names with them.
  std::vector<std::pair<std::string, TomlSection>> all_sections();

  /// Kept as `unit` x what is written.
  template <class T>
  void integer(const std::string& key, T& value, uint64_t least, uint64_t most, uint64_t unit = 1) {
    if (const auto read = read_integer(key, least, most)) value = static_cast<T>(*read * unit);
  }
  template <class T>
  void choice(const std::string& key, T& value,
              const std::vector<std::pair<std::string, T>>& choices) {
    std::vector<std::string> words;
    words.reserve(choices.size());
    for (const auto& [word, meaning] : choices) words.push_back(word);
    if (const auto read = read_choice(key, words)) value = choices[*read].second;
  }
  void number(const std::string& key, double& value, double least, double most);
  void boolean(const std::string& key, bool& value);
  void text(const std::string& key, std::string& value);
  void texts(const std::string& key, std::vector<std::string>& value);
  void numbers(const std::string& key, std::vector<double>& value, double least, double most);

  /// These keys must be here, and no text of them empty.
  void needs(std::initializer_list<const char*> keys);
  [[nodiscard]] bool has(const std::string& key) const;
  /// Call it when all keys were read: any other is a mistake.
  void end();

  /// A mistake of the reader's own finding, at a key (or the table, if the key is not there).
  void mistake(const std::string& key, const std::string& what);
  [[nodiscard]] uint32_t line() const;
  [[nodiscard]] uint32_t line(const std::string& key) const;

 private:
  TomlSection(TomlFile& file, const TomlValue* table, std::string path);
  [[nodiscard]] std::string name(const std::string& key) const;
  [[nodiscard]] const TomlValue* find(const std::string& key) const;
  const TomlValue* take(const std::string& key);
  void add(const TomlValue& at, const std::string& what);
  std::optional<uint64_t> read_integer(const std::string& key, uint64_t least, uint64_t most);
  std::optional<size_t> read_choice(const std::string& key, const std::vector<std::string>& words);

  TomlFile* file_;
  const TomlValue* table_;  // null: the file does not have it
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace culprit
