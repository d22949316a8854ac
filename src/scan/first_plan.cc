#include "scan/first_plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace culprit::scan {
namespace {

struct Language {
  std::vector<std::string_view> suffixes;
  const char* compiler;
  const char* name;   // what its setups are called
  const char* clang;  // the other compiler: "clang++", with a version behind it; "": none
  const char* build;
  const char* run;
  const char* o2;
  const char* o3;
};

constexpr const char* kDefines = "{cc} {flags} {remarks} -g -DDIM={DIM} {program} -o {out}";
// DIM is a macro in Fortran, too, where the preprocessor runs.
// Files of modules go beside the program: cells are built at once.
constexpr const char* kFortran =
    "{cc} {flags} {remarks} -g -cpp -J$(dirname {out}) -DDIM={DIM} {program} -o {out}";
constexpr const char* kRust = "{cc} {flags} -g {program} -o {out}";

const Language* find_language(std::string_view source) {
  static const std::vector<Language> kLanguages = {
      {{".c"}, "gcc", "gcc", "clang", kDefines, "{out} {runs}", "-O2", "-O3"},
      {{".cc", ".cpp", ".cxx", ".c++", ".C"},
       "g++",
       "gcc",
       "clang++",
       kDefines,
       "{out} {runs}",
       "-O2",
       "-O3"},
      {{".f", ".for", ".f90", ".f95", ".f03", ".f08", ".F", ".F90", ".F95", ".F03", ".F08"},
       "gfortran",
       "gfortran",
       "",
       kFortran,
       "{out} {runs}",
       "-O2",
       "-O3"},
      {{".rs"},
       "rustc",
       "rustc",
       "",
       kRust,
       "{out} {runs} {DIM}",
       "-C opt-level=2",
       "-C opt-level=3"},
  };
  for (const Language& language : kLanguages) {
    for (const std::string_view suffix : language.suffixes) {
      if (source.ends_with(suffix)) return &language;
    }
  }
  return nullptr;
}

std::string in_toml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// "run = "{out} {runs}"           # what it means".
std::string line(const std::string& text, std::string_view comment) {
  return fmt::format("{:<32} # {}\n", text, comment);
}

}  // namespace

std::string find_clang_of(const std::string& source) {
  const Language* const language = find_language(source);
  return language == nullptr ? "" : language->clang;
}

Result<std::string> make_first_plan(const std::string& source, const std::string& text,
                                    const std::string& clang) {
  const Language* const language = find_language(source);
  if (language == nullptr) {
    return Error{
        fmt::format("what builds '{}' is not known: C, C++, Fortran and Rust are, by their "
                    "files' suffixes; any command may stand in a setup file's `build`",
                    printable(source))};
  }
  std::string out =
      "# culprit scan run: builds and runs every program with every setup and every size.\n"
      "# Words in braces stand for the variables below; commands run in this file's folder.\n"
      "\n[scan]\n";
  out += line(fmt::format("program = [{}]", in_toml(source)), "or patterns: \"kernels/*.cc\"");
  // Else every size would be built, and cost the same.
  constexpr std::string_view kMacro = " -DDIM={DIM}";
  std::string build = language->build;
  const size_t macro = build.find(kMacro);
  const bool has_size = macro == std::string::npos || text.find("DIM") != std::string::npos;
  if (!has_size) build.erase(macro, kMacro.size());
  out += fmt::format("build = {}\n", in_toml(build));
  out += line(fmt::format("run = {}", in_toml(language->run)),
              "{runs}: how often the loop goes round");
  out += line("# runs = [100, 300, 700]", "loop counts; else these, and fewer of long iterations");
  out += line("# iterations_per_run = 100", "if the program multiplies the count by itself");
  out += line("# machine = \"zen4\"", "models its caches and cycles, too; `none` is faster");
  out += line("# time_percent = 2", "measures CPU time, too, each within so much");
  out += line("# events = [\"cycles:u\"]", "native runs count these, too (`culprit events`)");
  if (has_size) {
    out += line("DIM = \"1..8\"", "a parameter: a range, or a list [1, 2, 4, 8]");
  } else {
    out += line("# DIM = \"1..8\"", "a parameter, where -DDIM={DIM} stands in build");
  }
  out += "\n[setup]\n";
  for (const char* level : {"O2", "O3"}) {
    const bool is_low = std::string_view(level) == "O2";
    out += fmt::format("{}_{} = {{ cc = \"{}\", flags = \"{}\" }}\n", language->name, level,
                       language->compiler, is_low ? language->o2 : language->o3);
  }
  if (!clang.empty()) {
    out += fmt::format(
        "# A list makes a setup of each of its values:\n"
        "\"clang_{{O}}\" = {{ O = [\"O2\", \"O3\"], cc = {}, flags = \"-{{O}}\" }}\n",
        in_toml(clang));
  }
  return out +
         "\n# What must hold of each cell; a kernel that loads nothing was optimised away.\n"
         "[expect]\n# loads = \">= DIM\"\n";
}

}  // namespace culprit::scan
