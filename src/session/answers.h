#pragma once

// One question about an open profile → its answer, as a value that can be printed as text or JSON
// or drawn. What all doors share.
//
//     ASSIGN_OR_RETURN(ProfileView view, ProfileView::open(path));
//     ASSIGN_OR_RETURN(const ReportAnswer answer, answer_report(view, question));
//     print_answer(answer, Format::json, style);
//
// Only the facts that a question needs are read. The view must outlive the answers; several threads
// may ask one view at once.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "annotate/annotation.h"
#include "base/result.h"
#include "base/text_style.h"
#include "counts/count_table.h"
#include "locality/data.h"
#include "locality/locality.h"
#include "regions/regions_report.h"
#include "report/never.h"
#include "session/accounting_view.h"
#include "session/profile_view.h"
#include "session/questions.h"
#include "stalls/stall_summary.h"
#include "timeline/timeline.h"

namespace culprit {

struct ReportAnswer {
  /// What the columns of the table are of: the profile, or one that was made of it.
  [[nodiscard]] const Profile& shown() const { return made ? *made : *own; }

  const Profile* own = nullptr;
  std::unique_ptr<Profile> made;
  ReportTable table;
  std::optional<CountTable> counts;  // of a profile that has nothing else
  std::optional<Timeline> timeline;  // instead of the table, where it is asked for by time
};

/// Errors: as make_report(); a template that does not exist; columns that the profile cannot fill
Result<ReportAnswer> answer_report(const ProfileView& view, const ReportQuestion& question);

/// What threads did over time. Errors: as make_timeline()
Result<Timeline> answer_timeline(const ProfileView& view, const TimelineOptions& question);

/// Which lines never ran.
/// Errors: as find_never()
Result<NeverReport> answer_never(const ProfileView& view, const std::vector<Filter>& filters);

std::string print_answer(const ReportAnswer& answer, Format format, const TextStyle& style);

/// Errors: as make_annotation(), and find_caches() where its columns are asked for
Result<Annotation> answer_annotation(const ProfileView& view, const AnnotateOptions& question);

/// Errors: as make_locality()
Result<LocalityReport> answer_locality(const ProfileView& view, const LocalityOptions& question);

/// Errors: as make_data()
Result<DataReport> answer_data(const ProfileView& view, const DataOptions& question);

/// A tree, which points into its template.
struct WhyAnswer {
  [[nodiscard]] const Profile& profile() const { return accounting->profile(); }
  [[nodiscard]] const Template& cpu() const { return accounting->cpu(); }

  std::unique_ptr<AccountingView> accounting;
  WhyReport why;
};

/// Errors: a template that does not exist; a part that is neither a function nor a module
Result<WhyAnswer> answer_why(const ProfileView& view, const WhyQuestion& question);

/// The summary of stalls of everything, or of a function, module or loop.
/// Errors: as make_stall_summary()
/// `cpu`: a template whose rows say what events of the hardware count; "": the profile's own.
Result<StallSummary> answer_stalls(const ProfileView& view, const std::string& cpu,
                                   const std::string& part);

/// What OpenMP constructs took, by thread.
/// Errors: as make_regions_report()
Result<RegionsReport> answer_regions(const ProfileView& view, const RegionsQuestion& question = {});

/// The bytes of a file of another program.
/// Errors: as the exports; branch records that are missing
Result<std::string> answer_export(const ProfileView& view, const ExportQuestion& question);

/// The tree of cycles of counts that are in no file (yet), in words. `wanted`: as
/// choose_template().
Result<std::string> print_counts_tree(const Profile& counts, const std::string& wanted,
                                      Format format, const TextStyle& style);

}  // namespace culprit
