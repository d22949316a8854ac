// Template files: what parses can be checked.

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "templates/lint.h"
#include "templates/template_toml.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace culprit;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Template> whole = parse_template(text, "template.toml");
  if (!whole) {
    CHECK(!whole.error().message.empty());
    return 0;
  }
  for (const LintFinding& finding : lint_template(*whole)) CHECK(!finding.message.empty());
  return 0;
}
