#include "report/nameless.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <vector>

#include "base/names.h"
#include "base/text.h"
#include "model/counts.h"

namespace culprit {
namespace {

/// Names that the unwind tables' ranges were given (snapshot): "sub_15ae0".
bool is_made_up(std::string_view name) {
  constexpr std::string_view kPrefix = "sub_";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return false;
  return name.find_first_not_of("0123456789abcdef", kPrefix.size()) == name.npos;
}

bool has_name(CodeIndex& code, const Location& place) {
  const CodePlace found = code.find(place);
  if (found.function == CodePlace::kNone) return false;
  const ImageFacts& facts = *code.facts(place.image);
  return !is_made_up(facts.strings.text(facts.functions[found.function].name));
}

}  // namespace

std::string describe_nameless(CodeIndex& code, size_t event) {
  constexpr double kMuch = 0.05;
  constexpr size_t kMostFiles = 3;
  const Profile& profile = code.profile();
  double all = 0;
  double nameless = 0;
  std::map<ImageId, double> by_image;
  for (const Histogram& histogram : profile.histograms) {
    const Image* const image = code.image(histogram.image);
    const bool is_file = image != nullptr &&
                         (image->kind == ImageKind::program || image->kind == ImageKind::library);
    for_each_count(profile, histogram, [&](const Location& place, size_t of, const Sum& sum) {
      if (of != event) return;
      const double value = static_cast<double>(sum.value);
      all += value;
      if (!is_file || has_name(code, place)) return;
      nameless += value;
      by_image[place.image] += value;
    });
  }
  if (!(nameless > kMuch * all)) return "";
  std::vector<std::pair<double, ImageId>> images;
  for (const auto& [image, value] : by_image) images.emplace_back(value, image);
  std::ranges::sort(images, std::greater());
  std::vector<std::string> files;
  for (const auto& [value, image] : images) {
    if (files.size() == kMostFiles) break;
    files.push_back(
        fmt::format("{} ({:.1f} %)", printable(base_name(code.module(image))), 100 * value / all));
  }
  return fmt::format(
      "{:.1f} % of {} is code without symbols, in {}: PACKAGE-dbgsym, or DEBUGINFOD_URLS, then "
      "culprit symbolize (and do not strip your own)",
      100 * nameless / all, profile.strings.text(profile.events[event].name),
      fmt::join(files, ", "));
}

}  // namespace culprit
