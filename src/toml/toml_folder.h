#pragma once

// A folder of TOML files that are known by their names: machines, templates.

#include <string>
#include <string_view>
#include <vector>

namespace culprit {

inline constexpr std::string_view kTomlSuffix = ".toml";

/// The names of the files in a folder, without ".toml", in order; none if there is no folder.
std::vector<std::string> list_toml_names(const std::string& folder);

/// Whether a word of the command line is a file rather than a name: "zen4.toml", "./zen4".
bool is_toml_path(std::string_view word);

}  // namespace culprit
