#pragma once

// For tests: small programs compiled at run time with the system's compilers, and what
// other tools say about them.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"

namespace culprit::test {

/// Runs a shell command; fails the test if it fails. Returns what it printed.
inline std::string run(const std::string& command) {
  std::string output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

inline bool has_tool(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

inline std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A folder with the sources of one program: two units, a header, inlining over two levels,
/// templates, a lambda, a local class, a cold path, a static function.
class ProgramFolder {
 public:
  ProgramFolder() : folder_(*TemporaryFolder::make()) {
    run("mkdir -p " + path("inc"));
    write_text(path("inc/shapes.h"), R"(#pragma once
namespace shapes {
inline int square(int x) {
  int y = x * x;
  return y ^ (y >> 3);
}
template <class T>
__attribute__((always_inline)) inline T twice(T x) {
  T sum = 0;
  for (int i = 0; i < 2; ++i) sum += square(static_cast<int>(x)) + i;
  return sum;
}
template <class T>
__attribute__((noinline)) T heavy(T x) {
  T sum = x;
  for (int i = 0; i < 50; ++i) sum += twice<T>(sum + i);
  return sum;
}
}
int other(int x);
)");
    write_text(path("main.cc"), R"(#include "shapes.h"
#include <cstdlib>
volatile int sink;
static __attribute__((noinline)) int hidden(int x) {
  return shapes::twice(x) + 7;
}
__attribute__((noinline)) int local_class(int x) {
  struct Adder {
    int base;
    __attribute__((noinline)) int add(int y) const { return base * y + shapes::square(y); }
  };
  Adder adder{x};
  auto lambda = [&](int z) __attribute__((noinline)) { return adder.add(z) + x; };
  return lambda(x + 1) + lambda(x * 2);
}
__attribute__((noinline)) int checked(int x) {
  if (__builtin_expect(x == 12345, 0)) std::abort();
  return shapes::twice(x + 1);
}
int main(int argc, char**) {
  sink = hidden(argc) + local_class(argc) + checked(argc) + other(argc);
  sink = sink + shapes::heavy<int>(argc) + static_cast<int>(shapes::heavy<long>(argc));
  return 0;
}
)");
    write_text(path("other.cc"), R"(#include "shapes.h"
namespace {
__attribute__((noinline)) int inner(int x) { return shapes::twice(x) * 3; }
}
int other(int x) {
  return inner(x) + shapes::heavy<int>(x);
}
)");
  }

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return folder_.path() + "/" + name;
  }
  /// Compiles both units, separately, into `name`.
  std::string build(const std::string& name, const std::string& compiler,
                    const std::string& flags) const {
    const std::string here = "cd " + path() + " && ";
    for (const char* unit : {"main", "other"})
      run(here + compiler + " -O2 -Iinc " + flags + " -c " + unit + ".cc -o " + name + "_" + unit +
          ".o");
    run(here + compiler + " -O2 " + flags + " " + name + "_main.o " + name + "_other.o -o " + name);
    return path(name);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace culprit::test
