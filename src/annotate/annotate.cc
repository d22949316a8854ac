#include "annotate/annotation.h"

namespace culprit {

Result<std::string> annotate(const Profile& profile, const FactsLookup& facts,
                             const AnnotateOptions& options, Format format,
                             const TextStyle& style) {
  ASSIGN_OR_RETURN(const Annotation annotation, make_annotation(profile, facts, options));
  switch (format) {
    case Format::text:
      return print_annotation_text(profile, annotation, options, style);
    case Format::json:
      return print_annotation_json(profile, annotation);
    case Format::csv:
      return print_annotation_csv(annotation, options);
  }
  return std::string();
}

}  // namespace culprit
