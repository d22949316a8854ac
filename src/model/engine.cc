#include "model/engine.h"

#include <algorithm>
#include <array>
#include <utility>

namespace culprit {
namespace {

constexpr std::array<std::pair<Engine, std::string_view>, 10> kWords = {{
    {Engine::unknown, ""},
    {Engine::timer, "timer"},
    {Engine::posix_timer, "posix-timer"},
    {Engine::pmu, "pmu"},
    {Engine::software, "software"},
    {Engine::tracepoint, "tracepoint"},
    {Engine::breakpoint, "breakpoint"},
    {Engine::simulate, "simulate"},
    {Engine::branch_records, "branch-records"},
    {Engine::static_model, "static-model"},
}};

/// The label of runs that did not run as themselves.
constexpr std::string_view kEngineLabel = "engine";

}  // namespace

std::string_view word_of(Engine engine) {
  return std::ranges::find(kWords, engine, [](const auto& word) { return word.first; })->second;
}

Engine engine_of(const Profile& profile, const Event& event) {
  const auto found = std::ranges::find(kWords, profile.strings.text(event.engine),
                                       [](const auto& word) { return word.second; });
  return found == kWords.end() ? Engine::unknown : found->first;
}

bool is_simulated(const Profile& profile, const Run& run) {
  return std::ranges::any_of(run.labels, [&](const auto& label) {
    return profile.strings.text(label.first) == kEngineLabel &&
           profile.strings.text(label.second) == word_of(Engine::simulate);
  });
}

void mark_simulated(StringTable& strings, Run& run) {
  run.labels[strings.intern(kEngineLabel)] = strings.intern(word_of(Engine::simulate));
}

}  // namespace culprit
