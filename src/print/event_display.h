#pragma once

// How an event's numbers are written: nanoseconds as cycles where the clock is
// calibrated, with the mark of their provenance in the heading.

#include <string>
#include <vector>

#include "model/profile.h"
#include "print/values.h"

namespace culprit {

/// `~` sampled, `=` counted, `?` modelled.
char provenance_mark(Provenance provenance);
const char* provenance_name(Provenance provenance);

/// The clock, if the machine has one that can be used.
const ClockCalibration* find_clock(const Machine& machine);

class EventDisplay {
 public:
  EventDisplay(const Profile& profile, const Event& event);

  /// "~cycles", "~time", "=instructions".
  [[nodiscard]] std::string heading() const { return mark_ + word_; }
  /// "cycles", "time" or the event's name.
  [[nodiscard]] const std::string& word() const { return word_; }
  /// "3.35 G", "1.15 s"; "-" where there is nothing.
  [[nodiscard]] std::string format(const Value& value) const;
  /// The value with the word that it needs: "3.35 G cycles", "1.15 s".
  [[nodiscard]] std::string format_named(const Value& value) const;

 private:
  char mark_;
  std::string word_;
  bool is_time_ = false;
  double factor_ = 1;
};

/// "82.3 %"; "-" of nothing.
std::string format_share(const Value& part, const Value& whole);
/// "279" or "1.20 %"; "-" of nothing.
std::string format_derived(const DerivedColumn& column, const std::vector<Value>& values);
/// "0.5": half of the 95 % interval, in points; "" where nothing is sampled.
/// It rests on the number of samples, or on the error of the value where that says more.
std::string format_half_width(const Event& event, const Value& part, const Value& whole);

}  // namespace culprit
