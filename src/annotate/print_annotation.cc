#include "annotate/annotation.h"

namespace culprit {

std::string print_annotation(const Profile& profile, const Annotation& annotation,
                             const AnnotateOptions& options, Format format,
                             const TextStyle& style) {
  switch (format) {
    case Format::text:
      return print_annotation_text(profile, annotation, options, style);
    case Format::json:
      return print_annotation_json(profile, annotation);
    case Format::csv:
      return print_annotation_csv(annotation, options);
  }
  return "";
}

}  // namespace culprit
