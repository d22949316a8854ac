#include "top/top_view.h"

#include <algorithm>
#include <iterator>

namespace culprit {

namespace {

/// Moves what is on the screen until the selected row is in it.
void scroll_to_selected(TopView& view, size_t all_rows, size_t rows) {
  if (all_rows == 0) {
    view.selected = view.first = 0;
    return;
  }
  rows = std::max<size_t>(rows, 1);
  view.selected = std::min(view.selected, all_rows - 1);
  view.first = std::min(view.first, view.selected);
  if (view.selected >= view.first + rows) view.first = view.selected + 1 - rows;
  view.first = std::min(view.first, all_rows > rows ? all_rows - rows : 0);
}

bool go_to(TopView& view, const TopQuestion& question) {
  view.question = question;
  view.selected = view.first = 0;
  return true;
}

bool drill(TopView& view, const TopTable& table) {
  if (view.selected >= table.rows.size() || table.question.level != view.question.level) {
    return false;
  }
  const TopRow& row = table.rows[view.selected];
  TopQuestion next = view.question;
  if (next.level == TopLevel::processes) {
    next.level = TopLevel::functions;
    next.process = row.process;
    next.by_name = false;
  } else if (next.level == TopLevel::functions) {
    next.level = TopLevel::instructions;
    next.function = row.function;
    next.by_name = true;  // code is read in its order
  } else {
    return false;
  }
  view.behind.push_back(view.question);
  return go_to(view, next);
}

bool go_back(TopView& view) {
  if (view.behind.empty()) return false;
  const TopQuestion before = view.behind.back();
  view.behind.pop_back();
  return go_to(view, before);
}

bool change_window(TopView& view) {
  const auto* const at =
      std::find(std::begin(kTopWindowsNs), std::end(kTopWindowsNs), view.window_ns);
  const bool is_last = at == std::end(kTopWindowsNs) || at + 1 == std::end(kTopWindowsNs);
  view.window_ns = is_last ? kTopWindowsNs[0] : *(at + 1);
  return true;
}

bool is_same_row(const TopRow& a, const TopRow& b) {
  return a.process == b.process && a.function == b.function && a.address == b.address;
}

}  // namespace

bool press(TopView& view, TopKey key, const TopTable& table, size_t rows) {
  if (view.shows_help && key != TopKey::none) {
    view.shows_help = false;
    if (key != TopKey::quit) return false;  // any key leaves the help
  }
  const size_t page = rows > 1 ? rows - 1 : 1;
  bool is_new = false;
  switch (key) {
    case TopKey::none:
    case TopKey::other:
      return false;
    case TopKey::up:
      view.selected -= view.selected > 0 ? 1 : 0;
      break;
    case TopKey::down:
      ++view.selected;
      break;
    case TopKey::page_up:
      view.selected -= std::min(view.selected, page);
      break;
    case TopKey::page_down:
      view.selected += page;
      break;
    case TopKey::first:
      view.selected = 0;
      break;
    case TopKey::last:
      view.selected = table.rows.empty() ? 0 : table.rows.size() - 1;
      break;
    case TopKey::enter:
      is_new = drill(view, table);
      break;
    case TopKey::back:
      is_new = go_back(view);
      break;
    case TopKey::processes:
    case TopKey::functions:
      view.behind.clear();
      is_new = go_to(
          view, {.level = key == TopKey::processes ? TopLevel::processes : TopLevel::functions});
      break;
    case TopKey::sort:
      view.question.by_name = !view.question.by_name;
      view.selected = view.first = 0;
      is_new = true;
      break;
    case TopKey::window:
      is_new = change_window(view);
      break;
    case TopKey::pause:
      view.is_paused = !view.is_paused;
      is_new = !view.is_paused;
      break;
    case TopKey::help:
      view.shows_help = true;
      break;
    case TopKey::quit:
      view.is_over = true;
      break;
  }
  if (!is_new) scroll_to_selected(view, table.rows.size(), rows);
  return is_new;
}

void follow_selection(TopView& view, const TopTable& before, const TopTable& now, size_t rows) {
  const bool is_same_level = before.question.level == now.question.level;
  if (is_same_level && view.selected < before.rows.size() && view.selected != 0) {
    const TopRow& selected = before.rows[view.selected];
    const auto found = std::find_if(now.rows.begin(), now.rows.end(),
                                    [&](const TopRow& row) { return is_same_row(row, selected); });
    if (found != now.rows.end()) {
      view.selected = static_cast<size_t>(found - now.rows.begin());
    }
  } else if (!is_same_level && now.question.level == TopLevel::instructions) {
    // Code is read in its order, from where most of it happens.
    const auto most =
        std::max_element(now.rows.begin(), now.rows.end(),
                         [](const TopRow& a, const TopRow& b) { return a.samples < b.samples; });
    if (most != now.rows.end()) {
      view.selected = static_cast<size_t>(most - now.rows.begin());
      view.first = view.selected - std::min(view.selected, rows / 2);
    }
  }
  scroll_to_selected(view, now.rows.size(), rows);
}

}  // namespace culprit
