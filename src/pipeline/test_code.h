#pragma once

// Made-up functions for tests: their bytes, and a profile that says how often they ran.

#include <map>
#include <string>

#include "attribute/attribution.h"
#include "model/builder.h"
#include "model/image_facts.h"
#include "model/profile.h"

namespace culprit {

/// An image that is one function, with one event of executions.
struct TestCode {
  Profile profile;
  ImageFacts facts;

  [[nodiscard]] FactsLookup lookup() const {
    return [this](ImageId) { return &facts; };
  }
};

/// `executions` by offset. `samples`: of each, if the event was sampled; 0: counted.
inline TestCode make_code(const std::string& architecture, const std::string& bytes,
                          const std::map<uint64_t, uint64_t>& executions, uint64_t samples = 0) {
  TestCode code;
  ProfileBuilder builder;
  Profile& profile = builder.profile();
  Event event;
  event.name = builder.intern("instructions");
  event.engine = event.encoding = builder.intern("");
  event.provenance = samples == 0 ? Provenance::counted : Provenance::sampled;
  profile.events = {event};
  Image image;
  image.kind = ImageKind::program;
  image.path = builder.intern("/made");
  profile.images = {image};
  profile.runs.resize(1);
  const ContextId context = builder.intern_context({});
  for (const auto& [offset, count] : executions) {
    builder.add(context, {ImageId(0u), FileOffset(offset)}, EventId(0u), samples, count);
  }
  builder.take_counts();
  code.profile = std::move(builder.profile());
  code.facts.architecture = architecture;
  code.facts.segments = {{FileOffset(0), bytes.size(), LinkAddress(0x1000)}};
  FunctionFact function;
  function.begin = FileOffset(0);
  function.end = FileOffset(bytes.size());
  function.name = code.facts.strings.intern("made");
  function.linkage_name = function.file = code.facts.strings.intern("");
  code.facts.functions = {function};
  code.facts.code = {{FileOffset(0), bytes}};
  return code;
}

}  // namespace culprit
