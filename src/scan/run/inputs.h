#pragma once

// What decides a cell's result: the contents of the files that went into its program, and all
// words: commands, compiler, loop counts, machine. A cell with the same key need not run again.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::scan {

/// 128 bits in hexadecimal. Not for secrets: who wants two texts of one hash can make them.
std::string hash_text(std::string_view text);

/// Hashes files, each once.
class FileHashes {
 public:
  /// nullopt if it cannot be read.
  const std::optional<std::string>& find(const std::string& path);

 private:
  std::map<std::string, std::optional<std::string>> hashes_;
};

/// The files that a dependency file of a compiler names (as make's rules, `out: a.cc b.h \`).
std::vector<std::string> parse_dependencies(std::string_view text);

/// "HASH PATH", a line for each file that can be read.
std::string describe_inputs(const std::vector<std::string>& paths, FileHashes& hashes);
/// The paths of such a text.
std::vector<std::string> parse_inputs(std::string_view text);

/// The first line of what the compiler says of itself; "" if it says nothing. Looked up in PATH.
std::string ask_compiler(const std::string& program);

}  // namespace culprit::scan
