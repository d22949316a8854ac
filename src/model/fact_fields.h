#pragma once

// The fields of the parts of ImageFacts, listed once (field_list.h).

#include "model/field_list.h"
#include "model/fields.h"
#include "model/image_facts.h"

namespace culprit {

template <>
struct FieldList<SegmentFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"begin"}, rows.begin...);
    visit(Field{"size_bytes"}, rows.size_bytes...);
    visit(Field{"link_address"}, rows.link_address...);
  }
};

template <>
struct FieldList<FunctionFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"begin"}, rows.begin...);
    visit(Field{"end"}, rows.end...);
    visit(Field{"name"}, rows.name...);
    visit(Field{"linkage_name"}, rows.linkage_name...);
    visit(Field{"file"}, rows.file...);
    visit(Field{"line"}, rows.line...);
  }
};

template <>
struct FieldList<LineFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"offset"}, rows.offset...);
    visit(Field{"file"}, rows.file...);
    visit(Field{"line"}, rows.line...);
    visit(Field{"column"}, rows.column...);
    visit(Field{"discriminator"}, rows.discriminator...);
  }
};

template <>
struct FieldList<InlineFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"begin"}, rows.begin...);
    visit(Field{"end"}, rows.end...);
    visit(Field{"depth"}, rows.depth...);
    visit(Field{"name"}, rows.name...);
    visit(Field{"call_file"}, rows.call_file...);
    visit(Field{"call_line"}, rows.call_line...);
    visit(Field{"linkage_name"}, rows.linkage_name...);
    visit(Field{"line"}, rows.line...);
    visit(Field{"call_discriminator"}, rows.call_discriminator...);
  }
};

template <>
struct FieldList<BlockFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"begin"}, rows.begin...);
    visit(Field{"size_bytes"}, rows.size_bytes...);
  }
};

template <>
struct FieldList<JumpFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"from"}, rows.from...);
    visit(Field{"to"}, rows.to...);
    visit(Field{"kind"}, rows.kind...);
  }
};

template <>
struct FieldList<CodeFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"begin"}, rows.begin...);
    visit(Field{"bytes"}, rows.bytes...);
  }
};

template <>
struct FieldList<FieldFact> {
  static constexpr void visit(auto&& visit, auto&... rows) {
    visit(Field{"place"}, rows.place...);
    visit(Field{"is_call"}, rows.is_call...);
    visit(Field{"type"}, rows.type...);
    visit(Field{"element_bytes"}, rows.element_bytes...);
    visit(Field{"name"}, rows.name...);
    visit(Field{"member_type"}, rows.member_type...);
    visit(Field{"offset"}, rows.offset...);
    visit(Field{"size_bytes"}, rows.size_bytes...);
    visit(Field{"variable"}, rows.variable...);
  }
};

template <>
inline constexpr SymbolSource kLastOf<SymbolSource> = SymbolSource::jitdump;
template <>
inline constexpr JumpKind kLastOf<JumpKind> = JumpKind::never_returns;

}  // namespace culprit
