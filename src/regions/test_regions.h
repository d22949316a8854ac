#pragma once

// Profiles with regions, for tests.

#include <map>
#include <string>

#include "model/region_words.h"
#include "regions/regions_report.h"

namespace culprit {

/// A profile with regions made by hand.
class RegionsOf {
 public:
  RegionsOf() {
    profile_.runs.emplace_back();
    profile_.runs[0].command = text("./fig1");
    profile_.runs[0].duration_ns = 5'000'000'000;
    profile_.machine.cpus_online = 4;
    profile_.processes.push_back({RunId(0u), 100, 1, text("fig1")});
  }
  StringId text(std::string_view word) { return profile_.strings.intern(word); }

  /// A further run, with a process of the next number.
  void add_process(uint32_t run) {
    profile_.runs.resize(run + 1);
    profile_.processes.push_back({RunId(run), 100 + run, 1, text("fig1")});
  }
  /// Of the process whose number is that of its run.
  ContextId thread_of(uint32_t run, uint32_t number) {
    profile_.threads.push_back({ProcessId(run), 100 + number, text("fig1"), number + 1});
    Context context;
    context.run = RunId(run);
    context.process = ProcessId(run);
    context.thread = ThreadId(profile_.threads.size() - 1);
    profile_.contexts.push_back(context);
    return ContextId(profile_.contexts.size() - 1);
  }
  ContextId thread(uint32_t number) { return thread_of(0, number); }
  RegionId region(std::string_view kind, RegionId parent, uint32_t line, uint32_t last = 0,
                  std::string_view name = "") {
    Region region;
    region.kind = text(kind);
    region.name = text(name);
    region.file = text("/src/main.c");
    region.first_line = line;
    region.last_line = last;
    region.parent = parent;
    region.site.offset = FileOffset(line);
    profile_.regions.push_back(region);
    return RegionId(profile_.regions.size() - 1);
  }
  void add(ContextId context, RegionId region, std::string_view part, double ms,
           uint64_t executions = 1) {
    RegionValue value;
    value.context = context;
    value.region = region;
    value.part = text(part);
    value.executions = executions;
    value.value = static_cast<uint64_t>(ms * 1e6);
    profile_.region_values.push_back(value);
  }
  void count(ContextId context, RegionId region, uint64_t pieces) {
    RegionValue value;
    value.context = context;
    value.region = region;
    value.part = text(region::kPieces);
    value.value = pieces;
    profile_.region_values.push_back(value);
  }
  Profile& profile() { return profile_; }
  RegionsReport report() {
    const FactsLookup nothing = [](ImageId) -> const ImageFacts* { return nullptr; };
    CodeIndex code(profile_, nothing);
    Result<RegionsReport> made = make_regions_report(profile_, code);
    EXPECT_TRUE(made);
    return *std::move(made);
  }

 private:
  Profile profile_;
};

}  // namespace culprit
