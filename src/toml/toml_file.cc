#include "toml/toml_file.h"

#include <stdexcept>

// Malformed files make toml++ 3.3 fail assertions of its own ("[[[" does). They become
// exceptions, as its other errors are; in builds without assertions they would be assumptions.
[[noreturn]] static inline void assertion_of_toml_failed() {
  throw std::logic_error("malformed");
}
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : assertion_of_toml_failed())

#include <fmt/format.h>

#include "base/text.h"
#include <toml++/toml.h>

namespace culprit {
namespace {

/// No file that is read here is nested deeper; toml++ itself stops at 256.
constexpr int kDeepest = 16;

uint32_t line_of(const toml::source_region& region) {
  return static_cast<uint32_t>(region.begin.line);
}

TomlValue make_value(const toml::node& node, int depth) {
  TomlValue out;
  out.line = line_of(node.source());
  if (depth > kDeepest) return out;
  if (const toml::table* table = node.as_table()) {
    TomlValue::Table entries;
    for (const auto& [key, child] : *table) {
      entries.push_back({std::string(key.str()), make_value(child, depth + 1)});
    }
    out.value = std::move(entries);
  } else if (const toml::array* array = node.as_array()) {
    TomlValue::Array items;
    for (const toml::node& child : *array) items.push_back(make_value(child, depth + 1));
    out.value = std::move(items);
  } else if (const auto* text = node.as_string()) {
    out.value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    out.value = integer->get();
  } else if (const auto* number = node.as_floating_point()) {
    out.value = number->get();
  } else if (const auto* boolean = node.as_boolean()) {
    out.value = boolean->get();
  }
  return out;  // dates: none of the above
}

/// These files are ASCII: some other characters make toml++ 3.3 do what is undefined.
std::optional<TomlMistake> check_text(std::string_view text, const std::string& name) {
  uint32_t line = 1;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x7e || (byte < 0x20 && c != '\n' && c != '\r' && c != '\t')) {
      return TomlMistake{name, line, "a character that is not ASCII text"};
    }
    if (c == '\n') ++line;
  }
  return std::nullopt;
}

}  // namespace

Error TomlMistake::error() const {
  if (line == 0) return Error{fmt::format("{}: {}", printable(file), what)};
  return Error{fmt::format("{}, line {}: {}", printable(file), line, what)};
}

TomlFile parse_toml(std::string_view text, const std::string& name) {
  TomlFile file{name, {TomlValue::Table{}, 1}, check_text(text, name)};
  if (file.mistake) return file;
  try {  // the one place where toml++ can throw
    file.root = make_value(toml::parse(text, std::string_view(name)), 0);
  } catch (const toml::parse_error& error) {
    file.mistake =
        TomlMistake{name, line_of(error.source()), printable(std::string(error.description()))};
  } catch (const std::logic_error&) {
    file.mistake = TomlMistake{name, 0, "this is no TOML file"};
  }
  return file;
}

}  // namespace culprit
