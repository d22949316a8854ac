#pragma once

// Which sampled events of the hardware bound which ways of being held up.
//
//     branch-misses                  each mispredicted branch, at most 40 cycles
//     MEM_LOAD_RETIRED:L2_HIT   \    loads from L2, at most 30 cycles each: by both together, for a
//     MEM_LOAD_RETIRED:FB_HIT   /    line may have been on its way already
//     RS_EVENTS:EMPTY_CYCLES         all ways to wait for code: it counts the cycles themselves
//
// Events of a CPU's own are known by their row in its template (data/templates): its branch, group
// and label say what is counted. The kernel's generic events are in no template and have a table.

#include <span>
#include <string>
#include <vector>

#include "model/profile.h"
#include "stalls/stall_ways.h"
#include "templates/template.h"

namespace culprit {

struct BoundingEvent {
  size_t event = 0;           // of the profile
  std::string name;           // "branch-misses"
  double factor = 1;          // for the time that other events had its counter
  double weight = 0;          // what a sample usually stands for [events], factor included
  bool is_of_user = false;    // user code only: it says nothing of the kernel's
  bool is_of_kernel = false;  // and the reverse
};

/// A way costs at most the sum of its parts, for nothing of it happens without one of their events.
struct WayBound {
  struct Part {
    size_t event = 0;  // of EventRules::events
    double cost = 0;   // of one, at most [cycles]
    friend bool operator==(const Part&, const Part&) = default;
  };
  StallWay way;
  std::vector<Part> parts;
};

struct EventRules {
  std::vector<BoundingEvent> events;
  std::vector<WayBound> bounds;
  /// What weakens them.
  std::vector<std::string> remarks;
};

/// Errors: none: events that nothing is known of, that had no counter, or of which no sample tells
///         the period, bound nothing
EventRules make_event_rules(const Profile& profile, const Template& cpu);

/// A row of templates that counts a way, or a part of it.
struct TemplateRowName {
  CostBranch branch;
  std::string_view group;
  std::string_view label;
};
/// All that make_event_rules() looks for; for tests.
std::vector<TemplateRowName> list_bounding_rows();

}  // namespace culprit
