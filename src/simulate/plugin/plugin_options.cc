#include "simulate/plugin/plugin_options.h"

#include <cstdlib>
#include <string_view>

namespace culprit {
namespace {

simulate::Locality parse_locality(std::string_view value) {
  return value == "all"  ? simulate::Locality::all
         : value == "l1" ? simulate::Locality::l1
                         : simulate::Locality::off;
}

}  // namespace

std::optional<PluginOptions> parse_plugin_options(int count, char** words) {
  PluginOptions options;
  for (int i = 0; i < count; ++i) {
    const std::string_view word(words[i]);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = word.substr(0, equals);
    const std::string value(word.substr(equals + 1));
    char* end = nullptr;
    const uint64_t number = std::strtoull(value.c_str(), &end, 10);
    if (name == "folder") {
      options.folder = value;
    } else if (name == "words") {
      options.words = number;
    } else if (name == "locality") {
      options.locality = parse_locality(value);
    } else if (name == "detail") {
      options.cycles = value == "core";
    } else if (name == "sets") {  // N:SEED
      options.sample_sets = static_cast<uint32_t>(number);
      if (*end == ':') options.sample_seed = std::strtoull(end + 1, nullptr, 10);
    } else if (name == "deterministic") {
      options.deterministic = value == "on";
    } else if (name == "trial") {
      options.trial = value == "on";
    } else if (name == "limit") {
      options.limit = number;
    } else if (name == "skip") {
      options.skip = number;
    } else {
      return std::nullopt;
    }
  }
  return options.folder.empty() && !options.trial ? std::nullopt : std::optional(options);
}

}  // namespace culprit
