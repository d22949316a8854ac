#pragma once

// How a noun's fields are listed, once: `FieldList<Row>::visit(visit, rows...)` calls
// visit(role, field of each row) for each field, in the order of the struct. What is done with
// every field (storing, merging, comparing, translating ids) is written once for all nouns:
//
//     visit_fields([](const auto& role, uint64_t& a, const uint64_t& b) {...}, row, other);
//
// The role has the field's name, which is that of its column in the file, and says by its type
// what becomes of the field when rows are added up. A struct with a field that its list does not
// have does not compile.

#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace culprit {

struct FieldRole {
  std::string_view name;
  // NOLINTNEXTLINE(google-explicit-constructor): who needs the name only takes the name
  constexpr operator std::string_view() const { return name; }
};

/// What the row is. Of counts: their key, rows with equal keys are one.
struct Field : FieldRole {};
/// Such an id, which must not be "all".
struct NeededId : FieldRole {};
/// A number that is added up.
struct Total : FieldRole {};
/// The variance of a total.
struct Variance : FieldRole {};

/// Whether rows that differ in this field are different rows.
template <class T>
concept KeyRole = std::is_same_v<T, Field> || std::is_same_v<T, NeededId>;

template <class Row>
struct FieldList;  // specialized in fields.h

namespace field_list {

/// Stands for any field that is no struct of fields itself.
struct AnyField {
  template <class T>
    requires(!std::is_aggregate_v<T>)
  operator T() const;  // NOLINT(google-explicit-constructor)
};

/// How many fields `Row` has, those of Locations and Cells in it one by one.
template <class Row, class... Found>
consteval size_t count_members() {
  if constexpr (requires { Row{std::declval<Found>()..., AnyField{}}; }) {
    return count_members<Row, Found..., AnyField>();
  } else if constexpr (requires { Row{std::declval<Found>()..., std::nullopt}; }) {
    return count_members<Row, Found..., std::nullopt_t>();
  } else {
    return sizeof...(Found);
  }
}

/// Fields that are no column: they are stored and merged by themselves.
template <class Row>
consteval size_t count_elsewhere() {
  if constexpr (requires { FieldList<Row>::kElsewhere; }) return FieldList<Row>::kElsewhere;
  return 0;
}

template <class Row>
consteval size_t count_listed() {
  size_t count = 0;
  FieldList<Row>::visit([&](const auto&) { ++count; });
  return count;
}

}  // namespace field_list

/// Calls visit(role, row.field, rows.field...) for each field. Rows may be const.
template <class Row, class... Rows>
constexpr void visit_fields(auto&& visit, Row& row, Rows&... rows) {
  using Noun = std::remove_const_t<Row>;
  static_assert(field_list::count_listed<Noun>() + field_list::count_elsewhere<Noun>() ==
                    field_list::count_members<Noun>(),
                "a field is missing in the list FieldList<Row> (model/fields.h)");
  FieldList<Noun>::visit(visit, row, rows...);
}

/// Whether any field is a number that is added up: the row is a count.
template <class Row>
consteval bool has_totals() {
  bool found = false;
  FieldList<Row>::visit([&]<class R>(const R&) { found = found || std::is_same_v<R, Total>; });
  return found;
}

}  // namespace culprit
