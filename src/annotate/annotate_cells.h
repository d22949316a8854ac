#pragma once

// The columns of an annotation's listing that are left of its code:
//
//     ~cycles   ~share^                         of any profile
//      800 M    61.5 %
//     ~cycles   ~share^ =executed         ~CPI^    of one of two runs
//      800 M    61.5 %     100 M    0.00-9.21

#include "annotate/annotation.h"
#include "print/event_display.h"

namespace culprit {

/// Whether nothing was counted.
bool is_empty(const std::vector<Value>& values);

/// Profile and annotation must outlive it.
class AnnotateCells {
 public:
  AnnotateCells(const Profile& profile, const Annotation& annotation);

  [[nodiscard]] size_t width() const;
  /// `skid`: the mark of columns whose rows are single instructions; "" of lines.
  [[nodiscard]] std::string heading(const char* skid) const;
  /// Blank where nothing is.
  [[nodiscard]] std::string row(const std::vector<Value>& values, const std::string& cpi,
                                const std::string& more) const;

  /// "1.00 G cycles   76.9 %   500 samples"
  [[nodiscard]] std::string block(const AnnotatedBlock& block) const;
  /// What two runs tell of a block: "100 M runs   10.0 +-0.9 cycles each   CPI 3.33 +-0.29". Other
  /// profiles give "".
  [[nodiscard]] std::string runs(const AnnotatedBlock& block) const;
  /// What two runs tell of the function: "300 M instructions executed, CPI 4.33 +-0.33". Other
  /// profiles give "".
  [[nodiscard]] std::string function() const;

  [[nodiscard]] const EventDisplay& display() const { return display_; }

 private:
  /// The further columns, which are as wide as their heading.
  [[nodiscard]] std::string more(const std::string& cells) const;
  [[nodiscard]] std::string executed(const std::vector<Value>& values) const;

  const Annotation& annotation_;
  EventDisplay display_;
  bool is_sampled_ = true;  // the event of the costs
  std::string share_heading_;
};

}  // namespace culprit
