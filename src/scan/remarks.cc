#include "scan/remarks.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/names.h"
#include "base/number.h"
#include "base/text.h"

namespace culprit::scan {
namespace {

/// GCC says these of many statements, and they explain nothing by themselves.
constexpr const char* kIdle[] = {"statement clobbers memory",
                                 "splitting region",
                                 "not vectorized: statement can throw",
                                 "optimized:  Inlining",
                                 "optimized:   Inlining",
                                 "will not early inline",
                                 "not vectorized: no vectype for stmt"};

/// "kernel.cc:12:21: optimized: ..." from its first colon on.
std::optional<Remark> parse_remark(std::string_view line) {
  for (size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    const std::string_view rest = line.substr(colon + 1);
    const size_t end = rest.find(':');
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = find_number(rest.substr(0, end), 10);
    if (!number || *number > UINT32_MAX) continue;
    std::string_view text = rest.substr(end + 1);
    const size_t after = text.find(':');
    if (after != std::string_view::npos && find_number(text.substr(0, after), 10)) {
      text = text.substr(after + 1);
    }
    text = trim(text);
    Remark remark;
    remark.file = base_name(line.substr(0, colon));
    remark.line = static_cast<uint32_t>(*number);
    const auto take = [&](std::string_view kind) {
      if (!text.starts_with(kind)) return false;
      text = trim(text.substr(kind.size()));
      return true;
    };
    if (take("missed:")) {
      remark.is_missed = true;
    } else if (take("remark:")) {
      remark.is_missed = text.find("[-Rpass-missed") != std::string_view::npos ||
                         text.find("[-Rpass-analysis") != std::string_view::npos;
    } else if (!take("optimized:") && !take("warning:")) {
      return std::nullopt;
    }
    remark.text = text;
    return remark;
  }
  return std::nullopt;
}

bool is_idle(std::string_view line) {
  return std::any_of(std::begin(kIdle), std::end(kIdle),
                     [&](const char* one) { return line.find(one) != std::string_view::npos; });
}

}  // namespace

std::vector<Remark> parse_remarks(std::string_view log) {
  std::vector<Remark> remarks;
  std::set<std::pair<uint32_t, std::string>> seen;
  for (const std::string_view line : split(log, '\n')) {
    std::optional<Remark> remark = parse_remark(line);
    if (remark && seen.emplace(remark->line, remark->file + remark->text).second) {
      remarks.push_back(*std::move(remark));
    }
  }
  return remarks;
}

std::string keep_own_remarks(std::string_view log) {
  std::string out;
  std::set<std::string_view> seen;
  for (const std::string_view line : split(log, '\n')) {
    if (line.starts_with("/usr/") || is_idle(line) || !parse_remark(line)) continue;
    if (seen.insert(line).second) out += std::string(line) + "\n";
  }
  return out;
}

std::string remark_options(std::string_view command) {
  const std::string name(base_name(command.substr(0, command.find(' '))));
  if (name.find("clang") != std::string::npos) {
    return "'-Rpass=loop-vectorize|slp-vectorizer|loop-unroll|inline|licm' "
           "'-Rpass-missed=loop-vectorize|inline' -Rpass-analysis=loop-vectorize";
  }
  for (const char* one : {"gcc", "g++", "gfortran"}) {
    if (name.find(one) != std::string::npos) return "-fopt-info-optimized-missed";
  }
  return "";
}

std::vector<Remark> find_remarks_at(const std::vector<Remark>& remarks,
                                    const std::vector<std::string>& places) {
  std::vector<Remark> found;
  for (const Remark& remark : remarks) {
    const bool is_there = std::any_of(places.begin(), places.end(), [&](const std::string& place) {
      const size_t colon = place.rfind(':');
      if (colon == std::string::npos || place.substr(0, colon) != remark.file) return false;
      const auto line = find_number(std::string_view(place).substr(colon + 1), 10);
      return line && remark.line <= *line && *line - remark.line <= kHeadAbove;
    });
    if (is_there) found.push_back(remark);
  }
  return found;
}

}  // namespace culprit::scan
