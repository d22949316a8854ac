#pragma once

// Result<T>: a value, or an Error that says what failed, where, and what to do.
//
//     Result<Fd> open_readable(const std::string& path);
//
//     ASSIGN_OR_RETURN(Fd fd, open_readable(path));       // passes an error on
//     if (Result<Fd> fd = open_readable(path)) use(*fd);  // or looks at it
//
// The names are std::expected's; the type is ours because C++20 has none.
// CHECK(condition) is for our own mistakes and stays on in release builds.

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace culprit {

/// What went wrong, for code that can do something about it: choose another folder, an exit
/// status, a status of HTTP.
enum class ErrorKind : uint8_t {
  other,
  not_found,     // a file, a function, an event: no such thing is there
  refused,       // permission
  bad_input,     // what the user or a program asked for cannot be meant
  damaged,       // a file that does not keep to its format
  out_of_space,  // a full disk, a quota, a limit on the size of files
  cannot_run,    // a program that the kernel does not execute
};

/// Why the world is wrong. One sentence (or a few lines) for the user, without
/// a trailing newline: what failed, where, what to do.
struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::other;

  /// This failure with other words; its kind stays.
  [[nodiscard]] Error with(std::string other_message) const {
    return Error{std::move(other_message), kind};
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  template <class U = T>
    requires(std::convertible_to<U &&, T> && !std::same_as<std::remove_cvref_t<U>, Result> &&
             !std::same_as<std::remove_cvref_t<U>, Error>)
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return *get(); }
  const T& value() const& { return *const_cast<Result*>(this)->get(); }
  T&& value() && { return std::move(*get()); }
  T& operator*() & { return *get(); }
  const T& operator*() const& { return *const_cast<Result*>(this)->get(); }
  T&& operator*() && { return std::move(*get()); }
  T* operator->() { return get(); }
  const T* operator->() const { return const_cast<Result*>(this)->get(); }

  template <class U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(*get()) : static_cast<T>(std::forward<U>(fallback));
  }

  [[nodiscard]] const Error& error() const {
    const Error* error = std::get_if<1>(&state_);
    if (error == nullptr) std::abort();
    return *error;
  }

 private:
  T* get() {
    T* value = std::get_if<0>(&state_);
    if (value == nullptr) std::abort();
    return value;
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const {
    if (error_) std::abort();
  }
  [[nodiscard]] const Error& error() const {
    if (!error_) std::abort();
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

/// Prints where `condition` was false and aborts. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* condition);

/// An Error from errno, with its kind: "cannot open 'a.out': No such file or directory".
Error errno_error(const std::string& what, int error_number);

}  // namespace culprit

#define CULPRIT_CONCAT_INNER(a, b) a##b
#define CULPRIT_CONCAT(a, b) CULPRIT_CONCAT_INNER(a, b)

#define CHECK(condition)                                       \
  do {                                                         \
    if (!(condition)) [[unlikely]]                             \
      ::culprit::check_failed(__FILE__, __LINE__, #condition); \
  } while (false)

#define RETURN_IF_ERROR(expression)                                                         \
  do {                                                                                      \
    if (auto culprit_result = (expression); !culprit_result) return culprit_result.error(); \
  } while (false)

#define ASSIGN_OR_RETURN_INNER(temporary, target, expression) \
  auto temporary = (expression);                              \
  if (!temporary) return temporary.error();                   \
  target = *std::move(temporary)

#define ASSIGN_OR_RETURN(target, ...) \
  ASSIGN_OR_RETURN_INNER(CULPRIT_CONCAT(culprit_result_, __LINE__), target, (__VA_ARGS__))
