#include "binary/demangle.h"

#include "binary/d_name.h"
#include "binary/demangle_cpp.h"
#include "binary/demangle_rust.h"

namespace culprit {
namespace {

// Real names reach some 10 kB (template metaprograms). Longer ones are not read at all.
constexpr size_t kMaxMangledBytes = 16 << 10;
constexpr size_t kMaxDemangledBytes = 64 << 10;

/// Legacy Rust names are C++ ones that end in a component "h" + 16 hexadecimal digits.
bool is_legacy_rust(std::string_view name) {
  constexpr size_t kTail = 20;  // "17h" + 16 digits + "E"
  if (name.size() < kTail + 3) return false;
  const size_t end = name.rfind('E');
  if (end == std::string_view::npos || end + 1 < kTail) return false;
  const std::string_view tail = name.substr(end + 1 - kTail, kTail);
  return tail.starts_with("17h") &&
         tail.substr(3, 16).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

/// "core::fmt::Write::h0123456789abcdef" with its escapes -> "core::fmt::Write".
std::string tidy_legacy_rust(std::string text) {
  const size_t hash = text.rfind("::h");
  if (hash != std::string::npos && text.size() >= hash + 19) text.erase(hash, 19);
  struct Escape {
    std::string_view from, to;
  };
  constexpr Escape kEscapes[] = {{"$LT$", "<"},   {"$GT$", ">"},  {"$RF$", "&"},  {"$BP$", "*"},
                                 {"$LP$", "("},   {"$RP$", ")"},  {"$C$", ","},   {"$SP$", "@"},
                                 {"$u20$", " "},  {"$u27$", "'"}, {"$u5b$", "["}, {"$u5d$", "]"},
                                 {"$u7b$", "{"},  {"$u7d$", "}"}, {"$u3b$", ";"}, {"$u2b$", "+"},
                                 {"$u22$", "\""}, {"..", "::"}};
  for (const Escape& escape : kEscapes) replace_all(text, escape.from, escape.to);
  replace_all(text, "::_<", "::<");
  if (text.starts_with("_<")) text.erase(0, 1);
  return text;
}

bool is_fortran_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

/// "__m_MOD_mm" (gfortran) and "_QMmPmm" (flang) are procedure mm of module m: "m::mm". Fortran's
/// own names have no capitals. "" for other names.
std::string demangle_fortran(std::string_view name) {
  std::string_view module;
  std::string_view procedure;
  constexpr std::string_view kMiddle = "_MOD_";
  if (name.starts_with("__")) {
    const size_t middle = name.find(kMiddle, 2);
    if (middle == std::string_view::npos) return "";
    module = name.substr(2, middle - 2);
    procedure = name.substr(middle + kMiddle.size());
  } else if (name.starts_with("_QM")) {
    const size_t middle = name.find('P', 3);
    if (middle == std::string_view::npos) return "";
    module = name.substr(3, middle - 3);
    procedure = name.substr(middle + 1);
  }
  if (!is_fortran_name(module) || !is_fortran_name(procedure)) return "";
  return std::string(module) + "::" + std::string(procedure);
}

}  // namespace

std::string demangle(std::string_view name) {
  const auto as_is = [&] { return std::string(name); };
  if (name.size() < 3 || name.size() > kMaxMangledBytes) return as_is();
  // "memcpy@plt", "foo@@GLIBC_2.2": the part before "@" is the name.
  if (const size_t at = name.find('@'); at != std::string_view::npos && at > 0)
    return demangle(name.substr(0, at)) + std::string(name.substr(at));

  if (std::string d_name = demangle_d(name); !d_name.empty()) return d_name;
  if (std::string fortran = demangle_fortran(name); !fortran.empty()) return fortran;
  std::string text;
  if (name.starts_with("_Z") || name.starts_with("__Z") || name.starts_with("___Z"))
    text = demangle_cpp(name, kMaxDemangledBytes);
  else if (name.starts_with("_R"))
    text = demangle_rust(name, kMaxDemangledBytes);
  if (text.empty()) return as_is();
  return is_legacy_rust(name) ? tidy_legacy_rust(std::move(text)) : text;
}

}  // namespace culprit
