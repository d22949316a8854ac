#include "perfdata/script_places.h"

#include <algorithm>

namespace culprit {

namespace {

bool is_in_kernel_half(const ScriptFrame& frame) {
  return RunAddress(frame.address) >= kKernelHalf;
}

bool is_kernel_dso(std::string_view dso) {
  if (dso.find("vmlinux") != dso.npos || dso.starts_with("bpf_prog_")) return true;
  if (!dso.starts_with('['))
    return dso.find(".ko") != dso.npos && dso.find("/modules/") != dso.npos;
  constexpr std::string_view kOfProcesses[] = {"[vdso", "[vsyscall", "[heap",   "[stack",
                                               "[anon", "[JIT",      "[uprobes"};
  return std::none_of(std::begin(kOfProcesses), std::end(kOfProcesses),
                      [&](std::string_view name) { return dso.starts_with(name); });
}

}  // namespace

Mode find_script_mode(const ScriptFrame& frame) {
  if (frame.dso.starts_with("[guest.kernel")) return Mode::guest_kernel;
  if (frame.dso.empty()) return is_in_kernel_half(frame) ? Mode::kernel : Mode::user;
  if (frame.dso == "[hypervisor]") return Mode::hypervisor;
  return is_in_kernel_half(frame) || is_kernel_dso(frame.dso) ? Mode::kernel : Mode::user;
}

void ScriptPlaces::expect(RunAddress address, const ScriptFrame& frame, bool is_caller) {
  hints_.try_emplace(address.value, Hint{frame, is_caller});
}

/// Keeps the name of the function at `offset`. False: another one begins where it does.
bool ScriptPlaces::note(ImageId image, FileOffset offset, const Hint& hint) {
  if (hint.frame.symbol.empty()) return true;
  // Where the function begins is unknown without symoff, and for what perf took for its caller.
  uint64_t into = hint.frame.symbol_offset.value_or(0);
  if (hint.is_caller && hint.frame.symbol_offset) {
    if (into == 0) return true;  // the call is the last instruction of the function before
    --into;
  }
  if (into > offset.value || offset.value == UINT64_MAX) return true;
  const FileOffset begin(offset.value - into);
  const StringId name = builder_.intern(hint.frame.symbol);
  const auto [at, is_new] = names_[image].functions.try_emplace(begin, Named{offset + 1, name});
  if (at->second.name != name) return false;
  at->second.end = std::max(at->second.end, offset + 1);
  return true;
}

ImageId ScriptPlaces::find_image(const std::string& dso, bool is_offset, size_t layer) {
  std::vector<ImageId>& layers = images_[(is_offset ? "offset " : "address ") + dso];
  if (layer < layers.size()) return layers[layer];
  Image image;
  const bool is_kernel = dso.starts_with("[kernel") || dso.starts_with("[guest.kernel");
  image.kind = is_kernel ? ImageKind::kernel : ImageKind::library;
  image.path = builder_.intern(dso);
  Profile& profile = builder_.profile();
  const ImageId id(profile.images.size());
  profile.images.push_back(std::move(image));
  layers.push_back(id);
  names_[id].is_looked_up = is_offset;
  return id;
}

/// Different programs can have different functions at the same address of one dso, as
/// nobody knows where it was mapped: such go into another image of the same name.
Location ScriptPlaces::place_in_dso(const Hint& hint) {
  constexpr size_t kMostLayers = 16;
  const std::string dso(hint.frame.dso.empty() ? "[unknown]" : hint.frame.dso);
  const uint64_t printed = hint.frame.dso_offset.value_or(hint.frame.address);
  const FileOffset offset(printed - (hint.is_caller && printed != 0 ? 1 : 0));
  Location place;
  for (size_t layer = 0; layer < kMostLayers; ++layer) {
    place = {find_image(dso, hint.frame.dso_offset.has_value(), layer), offset};
    if (note(place.image, offset, hint)) break;
  }
  return place;
}

Location ScriptPlaces::refine(RunAddress address, const Location& place) {
  const auto at = hints_.find(address.value);
  if (at == hints_.end()) return place;
  const Hint& hint = at->second;
  const bool is_mapped = builder_.profile().images[place.image.value].kind != ImageKind::unknown;
  const bool is_named = !hint.frame.dso.empty() || !hint.frame.symbol.empty();
  if (!is_mapped && is_named) return place_in_dso(hint);
  if (!is_mapped) return place;
  note(place.image, place.offset, hint);
  if (const auto names = names_.find(place.image); names != names_.end()) {
    names->second.is_looked_up = true;
  }
  return place;
}

std::vector<std::pair<ImageId, ImageFacts>> ScriptPlaces::release_facts() {
  std::vector<std::pair<ImageId, ImageFacts>> all;
  const Profile& profile = builder_.profile();
  for (const auto& [image, names] : names_) {
    ImageFacts facts;
    facts.architecture = profile.machine.architecture;
    if (names.is_looked_up) facts.missing = "names are those of perf script's text";
    for (auto at = names.functions.begin(); at != names.functions.end(); ++at) {
      const auto next = std::next(at);
      const FileOffset end =
          next == names.functions.end() ? at->second.end : std::min(at->second.end, next->first);
      facts.functions.push_back({at->first, end,
                                 facts.strings.intern(profile.strings.text(at->second.name)),
                                 StringId(0u), StringId(0u), 0});
    }
    all.emplace_back(image, std::move(facts));
  }
  names_.clear();
  return all;
}

}  // namespace culprit
