#define NCURSES_NOMACROS 1  // clear(), move(), ... would be macros

#include "top/top_terminal.h"

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <ncurses.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace culprit {

namespace {

constexpr int kEscape = 27;

struct Binding {
  int code;
  TopKey key;
};

constexpr Binding kBindings[] = {
    {KEY_UP, TopKey::up},
    {'k', TopKey::up},
    {KEY_DOWN, TopKey::down},
    {'j', TopKey::down},
    {KEY_PPAGE, TopKey::page_up},
    {KEY_NPAGE, TopKey::page_down},
    {KEY_HOME, TopKey::first},
    {'g', TopKey::first},
    {KEY_END, TopKey::last},
    {'G', TopKey::last},
    {KEY_ENTER, TopKey::enter},
    {'\r', TopKey::enter},
    {'\n', TopKey::enter},
    {KEY_RIGHT, TopKey::enter},
    {KEY_LEFT, TopKey::back},
    {KEY_BACKSPACE, TopKey::back},
    {'\b', TopKey::back},
    {127, TopKey::back},
    {kEscape, TopKey::back},
    {'p', TopKey::processes},
    {'f', TopKey::functions},
    {'s', TopKey::sort},
    {'w', TopKey::window},
    {' ', TopKey::pause},
    {'h', TopKey::help},
    {'?', TopKey::help},
    {'q', TopKey::quit},
    {'Q', TopKey::quit},
    {3, TopKey::quit},  // Ctrl-C
};

}  // namespace

struct TopTerminal::State {
  std::FILE* out = nullptr;
  std::FILE* in = nullptr;
  SCREEN* screen = nullptr;
  ~State() {
    if (screen != nullptr) {
      ::endwin();
      ::delscreen(screen);
    }
    if (out != nullptr) std::fclose(out);
    if (in != nullptr) std::fclose(in);
  }
};

TopTerminal::TopTerminal(std::unique_ptr<State> state) : state_(std::move(state)) {}
TopTerminal::TopTerminal(TopTerminal&&) noexcept = default;
TopTerminal& TopTerminal::operator=(TopTerminal&&) noexcept = default;
TopTerminal::~TopTerminal() = default;

Result<TopTerminal> TopTerminal::open(int descriptor) {
  if (::isatty(descriptor) == 0) {
    return Error{"this is no terminal: culprit top --batch prints text"};
  }
  // Names may have any characters; without a locale ncurses takes them apart into bytes.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  auto state = std::make_unique<State>();
  state->out = ::fdopen(::dup(descriptor), "w");
  state->in = ::fdopen(::dup(descriptor), "r");
  if (state->out == nullptr || state->in == nullptr) {
    return Error{"the terminal cannot be opened for reading and writing"};
  }
  ::set_escdelay(50);
  state->screen = ::newterm(nullptr, state->out, state->in);
  if (state->screen == nullptr) {
    const char* const name = std::getenv("TERM");
    return Error{fmt::format(
        "ncurses cannot use this terminal (TERM={}): set TERM, or use culprit top --batch",
        name == nullptr ? "" : name)};
  }
  ::raw();
  ::noecho();
  ::nonl();
  ::keypad(stdscr, TRUE);
  ::curs_set(0);
  return TopTerminal(std::move(state));
}

size_t TopTerminal::width() const {
  return static_cast<size_t>(::getmaxx(stdscr));
}
size_t TopTerminal::height() const {
  return static_cast<size_t>(::getmaxy(stdscr));
}

void TopTerminal::draw(const std::vector<ScreenLine>& lines) {
  ::werase(stdscr);
  int y = 0;
  for (const ScreenLine& line : lines) {
    attr_t look = A_NORMAL;
    if (line.kind == ScreenLine::Kind::title) look = A_BOLD;
    if (line.kind == ScreenLine::Kind::heading || line.is_selected) look = A_REVERSE;
    ::wattrset(stdscr, static_cast<int>(look));
    if (look == A_REVERSE) ::mvwhline(stdscr, y, 0, ' ' | A_REVERSE, ::getmaxx(stdscr));
    ::mvwaddnstr(stdscr, y, 0, line.text.c_str(), static_cast<int>(line.text.size()));
    ::wattrset(stdscr, static_cast<int>(A_NORMAL));
    ++y;
  }
  ::wrefresh(stdscr);
}

TopKey TopTerminal::wait(int timeout_ms) {
  ::wtimeout(stdscr, timeout_ms);
  const int code = ::wgetch(stdscr);
  if (code == ERR) return TopKey::none;
  for (const Binding& binding : kBindings) {
    if (binding.code == code) return binding.key;
  }
  return code == KEY_RESIZE ? TopKey::none : TopKey::other;
}

}  // namespace culprit
