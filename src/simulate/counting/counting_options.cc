#include "simulate/counting/counting_options.h"

#include <cstdlib>

namespace culprit::counting {
namespace {

using simulate::Locality;

Locality parse_locality(std::string_view value) {
  return value == "all" ? Locality::all : value == "l1" ? Locality::l1 : Locality::off;
}

}  // namespace

bool parse_counting_word(std::string_view word, CountingOptions* options) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = word.substr(0, equals);
  const std::string value(word.substr(equals + 1));
  char* end = nullptr;
  const uint64_t number = std::strtoull(value.c_str(), &end, 10);
  if (name == "folder") {
    options->folder = value;
  } else if (name == "locality") {
    options->locality = parse_locality(value);
  } else if (name == "detail") {
    options->cycles = value == "core";
  } else if (name == "sets") {  // N:SEED:FIRST
    options->sample_sets = static_cast<uint32_t>(number);
    if (*end == ':') options->sample_seed = std::strtoull(end + 1, &end, 10);
    if (*end == ':') options->sample_first = std::strtoull(end + 1, nullptr, 10);
  } else if (name == "windows") {  // PER_MILLION:SEED:FIRST
    options->windows.per_million = static_cast<uint32_t>(number);
    if (*end == ':') options->windows.seed = std::strtoull(end + 1, &end, 10);
    if (*end == ':') options->windows.first = std::strtoull(end + 1, nullptr, 10);
  } else if (name == "deterministic") {
    options->deterministic = value == "on";
  } else if (name == "objects") {
    options->objects = true;
    options->grouping = objects::grouping_of(value);
  } else if (name == "regions") {
    options->regions = value == "on";
  } else if (name == "limit") {
    options->limit = number;
  } else if (name == "skip") {
    options->skip = number;
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> counting_words(const CountingOptions& options) {
  std::vector<std::string> words{"folder=" + options.folder};
  if (options.limit != UINT64_MAX) words.push_back("limit=" + std::to_string(options.limit));
  if (options.skip != 0) words.push_back("skip=" + std::to_string(options.skip));
  if (options.locality == Locality::l1) words.emplace_back("locality=l1");
  if (options.locality == Locality::all) words.emplace_back("locality=all");
  if (options.cycles) words.emplace_back("detail=core");
  if (options.deterministic) words.emplace_back("deterministic=on");
  if (options.objects) {
    words.push_back("objects=" + std::string(objects::word_of(options.grouping)));
  }
  if (options.regions) words.emplace_back("regions=on");
  if (options.sample_sets > 1) {
    words.push_back("sets=" + std::to_string(options.sample_sets) + ":" +
                    std::to_string(options.sample_seed) + ":" +
                    std::to_string(options.sample_first));
  }
  if (options.windows.are_wanted()) {
    words.push_back("windows=" + std::to_string(options.windows.per_million) + ":" +
                    std::to_string(options.windows.seed) + ":" +
                    std::to_string(options.windows.first));
  }
  return words;
}

}  // namespace culprit::counting
