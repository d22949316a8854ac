#include "session/function_shapes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "attribute/code_index.h"
#include "flow/code_flow.h"
#include "flow/code_shape.h"

namespace culprit {
namespace {

struct PlacedFunction {
  ImageId image;
  uint32_t row = 0;
  ptrdiff_t blocks = 0;
  std::string name;  // without clone suffixes
};

std::vector<PlacedFunction> list_functions(CodeIndex& code,
                                           const std::set<std::string>& known_builds) {
  std::vector<PlacedFunction> all;
  const std::vector<Image>& images = code.profile().images;
  for (uint32_t i = 0; i < images.size(); ++i) {
    const ImageId image{i};
    if (known_builds.contains(images[i].build_id)) continue;
    const ImageFacts* const facts = code.facts(image);
    if (facts == nullptr) continue;
    const auto first_behind = [&](FileOffset at) {
      return std::ranges::lower_bound(facts->blocks, at, {}, &BlockFact::begin);
    };
    for (uint32_t row = 0; row < facts->functions.size(); ++row) {
      const FunctionFact& function = facts->functions[row];
      all.push_back({image, row, first_behind(function.end) - first_behind(function.begin),
                     std::string(without_clone_suffix(facts->strings.text(function.name)))});
    }
  }
  return all;
}

std::optional<uint64_t> find_shape(CodeIndex& code, CodeFlow& flow, const PlacedFunction& at) {
  const FunctionGraph* const function = flow.find(at.image, at.row);
  if (function == nullptr) return std::nullopt;
  const FunctionFact& fact = code.facts(at.image)->functions[at.row];
  const Result<Disassembly> texts = code.disassemble(at.image, fact.begin, fact.end);
  return texts ? hash_code_shape(*texts, function->graph) : std::nullopt;
}

}  // namespace

std::set<std::string> find_builds(const Profile& profile) {
  std::set<std::string> builds;
  for (const Image& image : profile.images) {
    if (!image.build_id.empty()) builds.insert(image.build_id);
  }
  return builds;
}

FunctionShapes find_function_shapes(const ProfileView& view, const std::set<std::string>& names,
                                    const std::set<std::string>& known_builds) {
  const FactsLookup facts = view.facts({FactPart::functions, FactPart::blocks, FactPart::code});
  CodeIndex code(view.profile(), facts);
  CodeFlow flow(code);
  const std::vector<PlacedFunction> all = list_functions(code, known_builds);
  // Only what has as many blocks can have the shape of a function that is asked for.
  std::set<ptrdiff_t> sizes;
  for (const PlacedFunction& one : all) {
    if (names.contains(one.name)) sizes.insert(one.blocks);
  }
  std::map<uint64_t, std::vector<const PlacedFunction*>> by_shape;
  std::map<std::string, size_t> copies;
  for (const PlacedFunction& one : all) {
    if (!sizes.contains(one.blocks)) continue;
    ++copies[one.name];
    const std::optional<uint64_t> shape = find_shape(code, flow, one);
    if (shape) by_shape[*shape].push_back(&one);
  }
  FunctionShapes shapes;
  for (const auto& [shape, functions] : by_shape) {
    const std::string& name = functions.front()->name;
    if (functions.size() == 1 && names.contains(name) && copies[name] == 1) shapes[name] = shape;
  }
  return shapes;
}

}  // namespace culprit
