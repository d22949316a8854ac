#include "branches/call_kind.h"

namespace culprit {

namespace {

bool enters_function(CodeIndex& code, const Location& to, const CodePlace& place) {
  return place.function != CodePlace::kNone &&
         code.facts(to.image)->functions[place.function].begin == to.offset;
}

}  // namespace

CallKind find_call_kind(FunctionCodes& codes, const Location& from, const Location& to) {
  CodeIndex& code = codes.index();
  const CodePlace source = code.find(from);
  const CodePlace target = code.find(to);
  const bool same = from.image == to.image && source.function == target.function;
  const bool enters_another = enters_function(code, to, target) && !same;
  const FunctionCode* known =
      source.function == CodePlace::kNone ? nullptr : codes.find(from.image, source.function);
  const auto at = known == nullptr ? std::nullopt : known->find(from.offset);
  if (!at) return enters_another ? CallKind::call : CallKind::other;
  switch (known->flow(*at)) {
    case Flow::call:
      return known->has_target(*at) ? CallKind::call : CallKind::indirect_call;
    case Flow::jump:
    case Flow::branch:
      return enters_another ? CallKind::call : CallKind::other;
    case Flow::indirect_jump:
      return enters_another ? CallKind::indirect_call : CallKind::other;
    case Flow::next:  // an interrupt, a fault or a system call
    case Flow::returns:
    case Flow::trap:
      break;
  }
  return CallKind::other;
}

}  // namespace culprit
