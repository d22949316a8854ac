// A program whose every call chain is known, for tests/unwind_test.py.
//
// Each scene burns about the same CPU time in a function of its own name, "leaf_...". CHAINS in
// unwind_test.py says by whom each function is called. Nothing is inlined, cloned or
// turned into a jump. Built twice: without frame pointers, and with them.
//
//   chains PLUGIN MILLIONS      the path of the plugin; loop rounds of each scene

#include <alloca.h>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>

#define APART __attribute__((noipa))
// After a call: it is not the last thing the caller does, so it is no jump.
#define NOT_A_TAIL asm volatile("" ::: "memory")

extern "C" void library_enter(uint64_t rounds);
extern "C" uint64_t leaf_linkage(uint64_t x);

namespace {

uint64_t rounds;
volatile uint64_t sink;
const char* plugin_path;

// A saved register makes a stack frame: else gcc gives a leaf no frame pointer, asked or not.
#define WITH_FRAME asm volatile("" ::: "rbx")

#define SPIN(n)                                                   \
  do {                                                            \
    WITH_FRAME;                                                   \
    uint64_t x = sink | 1;                                        \
    for (uint64_t i = 0; i < (n); ++i) x ^= x << 13, x ^= x >> 7; \
    sink = x;                                                     \
  } while (0)

}  // namespace

extern "C" {

APART void leaf_recursion() {
  SPIN(rounds);
}
APART void dive(int depth) {
  if (depth == 0) {
    leaf_recursion();
  } else {
    dive(depth - 1);
  }
  NOT_A_TAIL;
}
APART void scene_recursion() {
  dive(5);
  NOT_A_TAIL;
}

APART void scene_library() {
  library_enter(rounds);
  NOT_A_TAIL;
}

// Thousands of calls through the procedure linkage table.
APART void scene_linkage() {
  uint64_t x = 1;
  for (uint64_t i = 0; i < rounds / 2; ++i) x = leaf_linkage(x);
  sink = x;
}

APART void scene_plugin() {
  void* plugin = dlopen(plugin_path, RTLD_NOW);
  if (plugin == nullptr) std::abort();
  const auto enter = reinterpret_cast<void (*)(uint64_t)>(dlsym(plugin, "plugin_enter"));
  enter(rounds);
  dlclose(plugin);
}

APART void leaf_signal() {
  SPIN(rounds);
}
APART void on_trap(int) {
  leaf_signal();
  NOT_A_TAIL;
}
// The signal comes at a known instruction.
APART void trapping() {
#if defined(__x86_64__)
  asm volatile("int3");
#else
  asm volatile("nop");
#endif
}
APART void scene_signal() {
  trapping();
  NOT_A_TAIL;
}

// A leaf so short that many samples fall on its first and last instructions.
APART uint64_t leaf_short(uint64_t x) {
  uint64_t a = x * 3, b = x * 5, c = x * 7;
  asm volatile("" : "+r"(a), "+r"(b), "+r"(c) : : "rbx", "r12", "r13", "r14", "r15");
  return a ^ b ^ c;
}
APART void scene_short() {
  uint64_t x = 1;
  for (uint64_t i = 0; i < rounds / 2; ++i) x = leaf_short(x);
  sink = x;
}

APART void leaf_cleanup() {
  SPIN(rounds);
}
APART void leaf_catch() {
  SPIN(rounds);
}
struct Guard {
  APART ~Guard() {
    leaf_cleanup();
    NOT_A_TAIL;
  }
};
APART void fails() {
  throw 1;
}
APART void guarded() {
  Guard guard;
  fails();
}
APART void scene_exceptions() {
  try {
    guarded();
  } catch (int) {
    leaf_catch();
  }
}

APART void leaf_variable(char* bytes) {
  std::memset(bytes, 1, 16);
  SPIN(rounds);
}
APART void with_array(unsigned length) {
  char bytes[length];
  leaf_variable(bytes);
  NOT_A_TAIL;
}
APART void with_alloca(unsigned length) {
  char* bytes = static_cast<char*>(alloca(length));
  std::memset(bytes, 0, length);
  with_array(length / 2);
  sink = static_cast<uint64_t>(bytes[0]);
}
APART void with_alignment(unsigned length) {
  alignas(128) char bytes[256];
  std::memset(bytes, 0, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
  with_alloca(length);
  NOT_A_TAIL;
}
APART void scene_variable() {
  with_alignment(333);
  NOT_A_TAIL;
}

APART void leaf_thread() {
  SPIN(rounds);
}
APART void* thread_begin(void*) {
  leaf_thread();
  NOT_A_TAIL;
  return nullptr;
}

}  // extern "C"

int main(int count, char** words) {
  if (count < 3) return 2;
  plugin_path = words[1];
  rounds = std::strtoull(words[2], nullptr, 10) * 1'000'000;
  std::signal(SIGTRAP, on_trap);
  scene_recursion();
  scene_library();
  scene_linkage();
  scene_plugin();
  scene_signal();
  scene_short();
  scene_exceptions();
  scene_variable();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, thread_begin, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);
  return 0;
}
