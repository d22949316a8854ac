#pragma once

// Names for people: short, safe on a terminal, and fitting a column.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace culprit {

/// "/usr/lib/libc.so.6" → "libc.so.6"; names in brackets stay as they are.
std::string base_name(std::string_view path);

/// A function name without its parameter list: "ns::f<int>(char) const" → "ns::f<int>".
std::string_view without_parameters(std::string_view name);

/// A function name as people would write it: without the return type that template
/// functions have, "std::string" for what it stands for, no inline namespaces.
std::string pretty_name(std::string_view name);

/// The name without qualifiers: "ns::Set<int>::find<char>(char)" → "find<char>(char)".
std::string_view last_part(std::string_view name);

/// The name without its first qualifier, without its first two, ...: "a::b::c" → "b::c", "c".
std::vector<std::string_view> qualified_suffixes(std::string_view name);

/// "table.3" → "table": compilers write a number behind the names of variables of functions, and
/// of Fortran's main program. Another name is returned whole.
std::string_view without_number(std::string_view symbol);

/// "vector<std::pair<int, int> >::push_back" → "vector<..>::push_back".
std::string without_template_arguments(std::string_view name);

/// Whether people would call `name` so: with or without parameters, template arguments
/// ("<..>") and qualifiers. "(anonymous namespace)::f(int)" is called "f".
bool is_called(std::string_view name, std::string_view wanted);

/// Shortens it to at most `width` columns, giving up the least first: parameters, then template
/// arguments ("vector<..>::push_back"), then qualifiers ("..::push_back"), then the middle.
std::string shorten_name(std::string_view name, size_t width);

/// Writes it as a word for the shell, quoted where it must be.
std::string shell_word(std::string_view text);

/// Terminal columns of printable text (one for each code point).
size_t count_columns(std::string_view text);

std::string pad_left(std::string_view text, size_t width);
std::string pad_right(std::string_view text, size_t width);

/// Tabs become blanks up to every eighth column; the rest as printable().
std::string expand_tabs(std::string_view text);

/// Words broken into lines of at most `width`; later lines begin with `indent` blanks.
std::string wrap(std::string_view text, size_t width, size_t indent);

}  // namespace culprit
