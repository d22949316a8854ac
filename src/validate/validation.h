#pragma once

// A whole validation: on what, of which events, with which result.

#include <string>
#include <vector>

#include "validate/judge.h"

namespace culprit {

struct Validation {
  std::string engine;         // "simulate", "pmu"
  std::string template_name;  // whose rows the events are; "": the kernel's generic events
  std::string machine_model;  // of the software PMU; "": hardware counted
  std::string cpu_model;      // of the machine that ran it
  std::string cpu_id;         // as perf's tables of CPUs have it
  std::string kernel_release;
  std::string date;  // "2026-11-25"
  std::vector<ValidatedEvent> events;
  std::vector<FamilyVerdict> families;

  /// Whether nothing was wrong, and something was right.
  [[nodiscard]] bool is_right() const;
};

/// The table for people: kernels with what they cause, what was wrong, events.
std::string print_validation(const Validation& validation);

/// The table as JSON (schema/validate.schema.json), for data/validation and for other programs.
std::string print_validation_json(const Validation& validation);

}  // namespace culprit
