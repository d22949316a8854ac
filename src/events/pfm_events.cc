#include "events/pfm_events.h"

#include "base/text.h"
#include "events/pfm_corrections.h"

#ifdef CULPRIT_HAS_PFM

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <perfmon/pfmlib_perf_event.h>

#include "events/event_syntax.h"

namespace culprit {
namespace {

constexpr size_t kLongestName = 512;  // no event with all its modifiers comes near

/// The library is made ready once per process. It reads from the environment whether CPUs that are
/// not here may be asked about; what the user has set stays.
bool has_library() {
  static const bool is_ready = [] {
    constexpr const char* kInactive = "LIBPFM_ENCODE_INACTIVE";
    const bool was_set = std::getenv(kInactive) != nullptr;
    ::setenv(kInactive, "1", 1);
    const bool is_ok = ::pfm_initialize() == PFM_SUCCESS;
    if (!was_set) ::unsetenv(kInactive);
    return is_ok;
  }();
  return is_ready;
}

template <class T>
T sized() {
  T value;
  std::memset(&value, 0, sizeof value);
  value.size = sizeof value;
  return value;
}

std::string text_of(const char* text) {
  return text == nullptr ? "" : text;
}

/// libpfm4's PMUs, asked for once.
const std::vector<pfm_pmu_info_t>& known_pmus() {
  static const std::vector<pfm_pmu_info_t> pmus = [] {
    std::vector<pfm_pmu_info_t> found;
    for (int i = PFM_PMU_NONE; has_library() && i < PFM_PMU_MAX; ++i) {
      auto info = sized<pfm_pmu_info_t>();
      if (::pfm_get_pmu_info(static_cast<pfm_pmu_t>(i), &info) == PFM_SUCCESS) {
        found.push_back(info);
      }
    }
    return found;
  }();
  return pmus;
}

const pfm_pmu_info_t* find_pmu(const std::string& name) {
  for (const pfm_pmu_info_t& pmu : known_pmus()) {
    if (is_same_word(pmu.name, name)) return &pmu;
  }
  return nullptr;
}

/// "icx" of "icx::EVENT"; "" if none is typed.
std::string typed_pmu(const std::string& name) {
  const size_t colons = name.find("::");
  return colons == std::string::npos ? "" : name.substr(0, colons);
}

std::string typed_event(const std::string& name) {
  const size_t colons = name.find("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

struct RawEncoding {
  int status = PFM_ERR_NOTFOUND;
  std::string pmu;
  perf_event_attr attr{};
};

RawEncoding ask_library(const std::string& name) {
  RawEncoding out;
  out.attr.size = sizeof out.attr;
  auto argument = sized<pfm_perf_encode_arg_t>();
  char* full_name = nullptr;
  argument.attr = &out.attr;
  argument.fstr = &full_name;
  out.status = ::pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
                                           PFM_OS_PERF_EVENT_EXT, &argument);
  const std::unique_ptr<char, void (*)(void*)> owned(full_name, std::free);
  out.pmu = typed_pmu(text_of(full_name));
  return out;
}

/// The codes without the kernel's say: for PMUs of packages that are not here.
std::vector<uint64_t> raw_codes(const std::string& name) {
  constexpr uint64_t kEnable = uint64_t{1} << 22;  // the kernel's to set
  auto argument = sized<pfm_pmu_encode_arg_t>();
  if (::pfm_get_os_event_encoding(name.c_str(), PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &argument) !=
      PFM_SUCCESS) {
    return {};
  }
  const std::unique_ptr<uint64_t, void (*)(void*)> owned(argument.codes, std::free);
  std::vector<uint64_t> codes(argument.codes, argument.codes + argument.count);
  if (!codes.empty()) codes[0] &= ~kEnable;
  return codes;
}

std::string describe(const PfmCorrection& row) {
  if (!row.wrong) return fmt::format("libpfm4 lacks it; encoded after {}", row.source);
  return fmt::format("libpfm4's encoding {:#x} corrected after {}", *row.wrong, row.source);
}

/// A name that only our table has: "EVENT:MASK" and c=, i, e after it.
Result<PfmEncoding> encode_lacking(const PfmCorrection& row, const std::string& event) {
  PfmEncoding encoding{.pmu = std::string(row.pmu),
                       .type = PERF_TYPE_RAW,
                       .config = row.right,
                       .config1 = row.config1,
                       .config2 = 0,
                       .precise_level = 0,
                       .note = describe(row)};
  std::string typed = event;
  for (char& c : typed) c = c == '.' ? ':' : c;
  for (const std::string_view word : split(typed, ':')) {
    if (is_same_word(word, row.event) || is_same_word(word, row.mask)) continue;
    const std::string_view value = word.size() > 2 && word[1] == '=' ? word.substr(2) : "1";
    const std::optional<uint64_t> number = parse_event_number(value);
    const uint64_t limit = word.starts_with('c') ? 0xff : 1;
    if (!number || *number > limit || (word.size() > 1 && word[1] != '=')) {
      return Error{"invalid event attribute '" + printable(word) + "'"};
    }
    // clang-format off
    switch (word.empty() ? '\0' : word[0]) {
      case 'c': encoding.config |= *number << 24; break;
      case 'i': encoding.config |= *number << 23; break;
      case 'e': encoding.config |= *number << 18; break;
      default: return Error{"invalid event attribute '" + printable(word) + "'"};
    }
    // clang-format on
  }
  return encoding;
}

const PfmCorrection* find_lacking(const std::string& pmu, const std::string& event) {
  if (!pmu.empty()) {
    const PfmCorrection* row = find_pfm_correction(pmu, event);
    return row != nullptr && !row->wrong ? row : nullptr;
  }
  for (const pfm_pmu_info_t& present : known_pmus()) {
    if (present.is_present == 0) continue;
    if (const PfmCorrection* row = find_lacking(present.name, event)) return row;
  }
  return nullptr;
}

/// Calls `each` with every event of a PMU.
template <class Each>
void for_each_event(const pfm_pmu_info_t& pmu, const Each& each) {
  for (int i = pmu.first_event; i != -1; i = ::pfm_get_event_next(i)) {
    auto event = sized<pfm_event_info_t>();
    if (::pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS) each(event);
  }
}

/// Calls `each` with every unit mask of an event; returns whether there are any.
template <class Each>
bool for_each_mask(const pfm_event_info_t& event, const Each& each) {
  bool has_any = false;
  for (int i = 0; i < event.nattrs; ++i) {
    auto attribute = sized<pfm_event_attr_info_t>();
    if (::pfm_get_event_attr_info(event.idx, i, PFM_OS_PERF_EVENT_EXT, &attribute) != PFM_SUCCESS ||
        attribute.type != PFM_ATTR_UMASK) {
      continue;
    }
    has_any = true;
    each(attribute);
  }
  return has_any;
}

std::vector<uint64_t> codes_of(const std::string& name) {
  const Result<PfmEncoding> encoding = encode_pfm_event(name);
  if (!encoding) return {};
  std::vector<uint64_t> codes{encoding->config};
  if (encoding->config1 != 0 || encoding->config2 != 0) codes.push_back(encoding->config1);
  if (encoding->config2 != 0) codes.push_back(encoding->config2);
  return codes;
}

}  // namespace

std::vector<PfmPmu> list_pfm_pmus() {
  std::vector<PfmPmu> pmus;
  for (const pfm_pmu_info_t& info : known_pmus()) {
    if (info.type == PFM_PMU_TYPE_OS_GENERIC || info.nevents == 0) continue;
    pmus.push_back({text_of(info.name), text_of(info.desc), info.is_present != 0,
                    info.type == PFM_PMU_TYPE_CORE, static_cast<size_t>(info.nevents)});
  }
  return pmus;
}

std::vector<PfmEvent> list_pfm_events(const std::string& pmu) {
  std::vector<PfmEvent> events;
  const pfm_pmu_info_t* info = find_pmu(pmu);
  if (info == nullptr) return events;
  for_each_event(*info, [&](const pfm_event_info_t& event) {
    const std::string name = text_of(event.name);
    const std::string prefix = text_of(info->name) + "::";
    const bool has_masks = for_each_mask(event, [&](const pfm_event_attr_info_t& mask) {
      const std::string full = name + ":" + text_of(mask.name);
      events.push_back({full, text_of(mask.desc), codes_of(prefix + full)});
    });
    if (!has_masks) events.push_back({name, text_of(event.desc), codes_of(prefix + name)});
  });
  for (const PfmCorrection& row : pfm_corrections()) {
    if (row.wrong || row.pmu != info->name) continue;
    events.push_back({fmt::format("{}:{}", row.event, row.mask),
                      fmt::format("(of {})", row.source),
                      {row.right}});
  }
  return events;
}

std::vector<std::string> list_pfm_event_names(const std::string& pmu) {
  std::vector<std::string> names;
  const pfm_pmu_info_t* info = find_pmu(pmu);
  if (info == nullptr) return names;
  for_each_event(*info, [&](const pfm_event_info_t& event) {
    const std::string name = text_of(event.name);
    const bool has_masks = for_each_mask(event, [&](const pfm_event_attr_info_t& mask) {
      names.push_back(name + ":" + text_of(mask.name));
    });
    if (!has_masks) names.push_back(name);
  });
  return names;
}

Result<PfmEncoding> encode_pfm_event(const std::string& name) {
  if (!has_library()) return Error{"libpfm4 does not start"};
  if (name.size() > kLongestName) return Error{"no event has so long a name"};
  const std::string event = typed_event(name);
  if (const PfmCorrection* row = find_lacking(typed_pmu(name), event)) {
    return encode_lacking(*row, event);
  }
  const RawEncoding raw = ask_library(name);
  const std::string pmu_name = raw.pmu.empty() ? typed_pmu(name) : raw.pmu;
  const pfm_pmu_info_t* pmu = find_pmu(pmu_name);
  const bool is_absent_package =
      pmu != nullptr && pmu->type != PFM_PMU_TYPE_CORE && pmu->is_present == 0;
  PfmEncoding encoding{.pmu = pmu_name,
                       .type = raw.attr.type,
                       .config = raw.attr.config,
                       .config1 = raw.attr.config1,
                       .config2 = raw.attr.config2,
                       .precise_level = static_cast<uint8_t>(raw.attr.precise_ip),
                       .note = ""};
  if (is_absent_package) {
    const std::vector<uint64_t> codes = raw_codes(name);
    if (codes.empty()) return Error{::pfm_strerror(raw.status)};
    encoding.type = std::nullopt;
    encoding.config = codes[0];
    encoding.config1 = codes.size() > 1 ? codes[1] : 0;
    return encoding;
  }
  if (raw.status != PFM_SUCCESS) return Error{::pfm_strerror(raw.status)};
  if (const PfmCorrection* row = find_pfm_correction(pmu_name, event)) {
    encoding.config = correct_config(*row, encoding.config);
    if (row->config1 != 0) encoding.config1 = row->config1;
    encoding.note = describe(*row);
  }
  return encoding;
}

}  // namespace culprit

#else  // built without libpfm4

namespace culprit {

std::vector<PfmPmu> list_pfm_pmus() {
  return {};
}
std::vector<PfmEvent> list_pfm_events(const std::string&) {
  return {};
}
std::vector<std::string> list_pfm_event_names(const std::string&) {
  return {};
}
Result<PfmEncoding> encode_pfm_event(const std::string&) {
  return Error{"this build of culprit is without libpfm4"};
}

}  // namespace culprit

#endif
