#include "simulate/qemu/plugin_options.h"

#include <cstdlib>
#include <string>
#include <string_view>

namespace culprit {

std::optional<PluginOptions> parse_plugin_options(int count, char** words) {
  PluginOptions options;
  for (int i = 0; i < count; ++i) {
    const std::string_view word(words[i]);
    if (word.starts_with("words=")) {
      options.words = std::strtoull(words[i] + word.find('=') + 1, nullptr, 10);
    } else if (word.starts_with("trial=")) {
      options.trial = word == "trial=on";
    } else if (!counting::parse_counting_word(word, &options.counting)) {
      return std::nullopt;
    }
  }
  const bool is_whole = !options.counting.folder.empty() || options.trial;
  return is_whole ? std::optional(options) : std::nullopt;
}

}  // namespace culprit
