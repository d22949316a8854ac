#pragma once

// How cells are named, in words and by the labels of their runs.

#include <string>
#include <string_view>
#include <vector>

namespace culprit::scan {

struct Variable {
  std::string name;
  std::string value;
  friend bool operator==(const Variable&, const Variable&) = default;
};
using Variables = std::vector<Variable>;

/// The value of a variable; nullptr if there is none of that name.
inline const std::string* find_variable(const Variables& variables, std::string_view name) {
  for (const Variable& one : variables)
    if (one.name == name) return &one.value;
  return nullptr;
}

/// How the compiler of a setup is called: a setup names it as cc, cxx, fc or compiler. nullptr:
/// it does not.
inline const std::string* find_compiler(const Variables& variables) {
  for (const char* name : {"cc", "cxx", "CC", "CXX", "fc", "FC", "compiler"}) {
    if (const std::string* const value = find_variable(variables, name)) return value;
  }
  return nullptr;
}

struct CellName {
  std::string program;
  std::string setup;
  Variables parameters;
  friend bool operator==(const CellName&, const CellName&) = default;

  /// "vecadd gcc12_O2 5": what people type and read.
  [[nodiscard]] std::string text() const {
    std::string out = program + (setup.empty() ? "" : " " + setup);
    for (const Variable& parameter : parameters) out += " " + parameter.value;
    return out;
  }
};

/// Labels of runs. Those of a cell that are none of these are its parameters.
inline constexpr std::string_view kProgramLabel = "program";
inline constexpr std::string_view kSetupLabel = "setup";
inline constexpr std::string_view kRunsLabel = "runs";

/// Labels of a cell's first run begin so; no parameter does.
inline constexpr std::string_view kDetailPrefix = "scan:";
inline constexpr std::string_view kStatusLabel = "scan:status";    // Status, in words
inline constexpr std::string_view kMessageLabel = "scan:message";  // of what failed
inline constexpr std::string_view kKeyLabel = "scan:key";          // a hash of all that decides
inline constexpr std::string_view kBuildLabel = "scan:build";      // the command
inline constexpr std::string_view kCompilerLabel = "scan:compiler";
inline constexpr std::string_view kRemarksLabel = "scan:remarks";  // what the compiler said
inline constexpr std::string_view kInputsLabel = "scan:inputs";    // files and hashes, a line each
inline constexpr std::string_view kOutputLabel = "scan:output";    // what the program printed
inline constexpr std::string_view kPerRunLabel = "scan:iterations-per-run";
inline constexpr std::string_view kCompileMsLabel = "scan:compile_ms";
inline constexpr std::string_view kTextBytesLabel = "scan:text_bytes";
/// Raw CPU times of native runs (native_costs.h).
inline constexpr std::string_view kTimingLabel = "scan:timing";
/// The same of an event, whose name follows.
inline constexpr std::string_view kCountedLabelPrefix = "scan:counted:";
inline constexpr std::string_view kMachineLabel = "scan:machine";
/// Of the modelled machine: floating-point operations, and instructions, per cycle at most.
inline constexpr std::string_view kPeakFlopsLabel = "scan:peak_flops";
inline constexpr std::string_view kDispatchWidthLabel = "scan:dispatch_width";
/// Exceptional floating-point operations of a native run: kFloatNothing, why they are not known
/// behind kFloatUnknown, or a line for each kind with the place of the first:
/// "overflow", a tab, "kernel.cc:12".
inline constexpr std::string_view kFloatLabel = "scan:float";
inline constexpr std::string_view kFloatNothing = "nothing";
inline constexpr std::string_view kFloatUnknown = "unknown: ";
/// A name of the whole measurement, of all runs of its cells: "commit=1a2b3c".
inline constexpr std::string_view kHistoryLabel = "scan:label";

inline constexpr std::string_view kMeasured = "measured";

}  // namespace culprit::scan
