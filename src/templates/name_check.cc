#include "templates/name_check.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/number.h"
#include "base/text.h"
#include "events/cpu_tables.h"
#include "events/event_request.h"
#include "events/pfm_corrections.h"
#include "events/pfm_events.h"
#include "templates/template_words.h"

namespace culprit {
namespace {

constexpr uint64_t kEventAndMask = 0xffff;
constexpr uint64_t kEdge = 1U << 18;
constexpr uint64_t kAny = 1U << 21;
constexpr uint64_t kInversion = 1U << 23;
constexpr uint64_t kCountMask = 0xff000000;
constexpr uint64_t kAmdEventHigh = 0xf00000000;

std::string cpu_of(const Template& whole) {
  return whole.libpfm.empty() ? "" : whole.libpfm.front();
}

bool has_prefix(const Template& whole, std::string_view prefix) {
  return std::any_of(whole.cpuid.begin(), whole.cpuid.end(),
                     [&](const std::string& id) { return id.starts_with(prefix); });
}

/// The bits of perf_event_attr.config that this CPU's counters have; those of privilege,
/// interrupt and enable are the kernel's.
uint64_t code_bits(const Template& whole) {
  if (const std::string cpu = cpu_of(whole); cpu.starts_with("arm")) return 0xffff;
  if (cpu_of(whole).starts_with("power")) return 0xffffffffff;
  const uint64_t common = kEventAndMask | kEdge | kInversion | kCountMask;
  return has_prefix(whole, "AuthenticAMD") || cpu_of(whole).starts_with("amd64")
             ? common | kAmdEventHigh
             : common | kAny;
}

/// The bits of a modifier that x86 counters have, as libpfm4 writes it: "c=4", "i=1"; nullopt: it
/// is none.
std::optional<uint64_t> find_modifier_bits(std::string_view word) {
  if (word == "i=1") return kInversion;
  if (!word.starts_with("c=")) return std::nullopt;
  constexpr int kCountMaskShift = 24;
  const auto mask = find_number(word.substr(2), 10);
  if (!mask || *mask > 0xff) return std::nullopt;
  return *mask << kCountMaskShift;
}

/// Judges by our own table of a CPU that this libpfm4 does not know.
JudgedName judge_by_table(const CpuTable& table, const TemplateRow& row) {
  JudgedName out{NameJudge::nobody, NameState::unknown, 0, 0, ""};
  std::string_view name = row.event;
  uint64_t modifiers = 0;
  while (name.find(':') != std::string_view::npos) {
    const auto bits = find_modifier_bits(name.substr(name.rfind(':') + 1));
    if (!bits) break;
    modifiers |= *bits;
    name = name.substr(0, name.rfind(':'));
  }
  const CpuEvent* event = find_cpu_event(table, name);
  if (event == nullptr) {
    out.reason =
        fmt::format("the table {} (src/events/cpu_tables.cc) has no such event", table.name);
    return out;
  }
  out.judge = NameJudge::table;
  out.code = event->config | modifiers;
  return out;
}

JudgedName judge_by_libpfm(const std::string& cpu, const TemplateRow& row) {
  const Result<EventRequest> request = encode_for(cpu, row.event);
  if (!request) {
    return {NameJudge::nobody, NameState::unknown, 0, 0, request.error().message};
  }
  JudgedName out{NameJudge::libpfm, NameState::known, request->config, request->config1, ""};
  const PfmCorrection* correction = find_pfm_correction(cpu, row.event);
  if (correction == nullptr) return out;
  out.judge = NameJudge::correction;
  out.state = correction->wrong ? NameState::wrong : NameState::unknown;
  return out;
}

std::string hex_codes(uint64_t code, uint64_t code1) {
  return code1 == 0 ? fmt::format("{:#x}", code) : fmt::format("{:#x} with {:#x}", code, code1);
}

void check_code(const Template& whole, const TemplateRow& row, const JudgedName& judged,
                std::vector<LintFinding>& findings) {
  const auto add = [&](const std::string& what) {
    findings.push_back({whole.file, row.line, printable(row.event) + ": " + what});
  };
  if (const uint64_t rest = row.code & ~code_bits(whole); rest != 0) {
    add(fmt::format("its code {:#x} has bits that no counter of this CPU has: {:#x}", row.code,
                    rest));
    return;
  }
  if (judged.judge == NameJudge::nobody) {
    // x86: the event may be newer than this libpfm4. Tables are ours: complete them.
    if (find_cpu_table(cpu_of(whole)) != nullptr) add(judged.reason);
    return;
  }
  if (row.code == judged.code && row.code1 == judged.code1) return;
  add(fmt::format("its code is {}, and {} {}", hex_codes(row.code, row.code1),
                  judged.judge == NameJudge::table ? "our table of this CPU has"
                                                   : "libpfm4 (as corrected) encodes it as",
                  hex_codes(judged.code, judged.code1)));
}

void check_state(const Template& whole, const TemplateRow& row, const JudgedName& judged,
                 std::vector<LintFinding>& findings) {
  const auto add = [&](const std::string& what) {
    findings.push_back({whole.file, row.line, printable(row.event) + ": " + what});
  };
  if (row.name_state != judged.state) {
    add(fmt::format("name_state is \"{}\", and should be \"{}\"{}{}",
                    word_of(name_state_words(), row.name_state),
                    word_of(name_state_words(), judged.state), judged.reason.empty() ? "" : ": ",
                    judged.reason));
  } else if (row.name_state != NameState::known && row.name_source.empty()) {
    add(fmt::format("name_state is \"{}\" without a name_source: who has the right code?",
                    word_of(name_state_words(), row.name_state)));
  }
}

bool is_known_cpu(const std::string& cpu) {
  if (find_cpu_table(cpu) != nullptr) return true;
  const std::vector<PfmPmu> pmus = list_pfm_pmus();
  return std::any_of(pmus.begin(), pmus.end(), [&](const PfmPmu& pmu) { return pmu.name == cpu; });
}

}  // namespace

JudgedName judge_name(const Template& whole, const TemplateRow& row) {
  const std::string cpu = cpu_of(whole);
  if (const CpuTable* table = find_cpu_table(cpu)) return judge_by_table(*table, row);
  return judge_by_libpfm(cpu, row);
}

void check_names(const Template& whole, std::vector<LintFinding>& findings) {
  if (whole.is_simulated) return;
  if (!is_known_cpu(cpu_of(whole))) {
    findings.push_back({whole.file, 1,
                        fmt::format("libpfm: neither libpfm4 nor our tables know '{}'",
                                    printable(cpu_of(whole)))});
    return;
  }
  for (const TemplateRow& row : whole.rows) {
    const JudgedName judged = judge_name(whole, row);
    check_code(whole, row, judged, findings);
    check_state(whole, row, judged, findings);
  }
}

NameChecks count_name_checks(const Template& whole) {
  NameChecks out;
  for (const TemplateRow& row : whole.rows) {
    if (whole.is_simulated) {
      ++out.without_code;
      continue;
    }
    // clang-format off
    switch (judge_name(whole, row).judge) {
      case NameJudge::libpfm: ++out.by_libpfm; break;
      case NameJudge::correction: ++out.by_libpfm; ++out.corrected; break;
      case NameJudge::table: ++out.by_table; break;
      case NameJudge::nobody: ++out.by_nobody; break;
    }
    // clang-format on
  }
  return out;
}

std::string describe(const NameChecks& checks) {
  std::vector<std::string> parts;
  if (checks.by_libpfm != 0) {
    parts.push_back(fmt::format("{} codes by libpfm4", checks.by_libpfm));
    if (checks.corrected != 0)
      parts.push_back(fmt::format("{} of them corrected", checks.corrected));
  }
  if (checks.by_table != 0) {
    parts.push_back(fmt::format("{} codes by our own table, as libpfm4 does not know this CPU",
                                checks.by_table));
  }
  if (checks.by_nobody != 0) parts.push_back(fmt::format("{} codes unchecked", checks.by_nobody));
  if (checks.without_code != 0) {
    parts.push_back(fmt::format("{} simulated events, without codes", checks.without_code));
  }
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace culprit
