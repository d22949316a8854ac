// Calls of all kinds, as often as it is written: by pointer, virtual, recursive, returned from by
// longjmp and by exceptions, and on other stacks.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))

static volatile long sink;

APART static void even(long x) {
  sink += x;
}
APART static void odd(long x) {
  sink -= x;
}
static void (*const kHandlers[])(long) = {even, odd, even};
/// 3000 calls through one pointer: 2000 to even, 1000 to odd.
APART static void dispatch() {
  for (long i = 0; i < 3000; ++i) kHandlers[i % 3](i);
}

struct Shape {
  virtual ~Shape() = default;
  APART virtual long area() const = 0;
};
struct Square : Shape {
  APART long area() const override { return sink & 1; }
};
struct Circle : Shape {
  APART long area() const override { return sink & 3; }
};
/// 500 virtual calls: 400 of squares, 100 of circles.
APART static void draw(Shape* const* shapes) {
  for (long i = 0; i < 500; ++i) sink += shapes[i % 5]->area();
}

/// Calls for 20: 21891, all but the first by itself (2 x fib(21) - 1).
APART static long fib(long n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static jmp_buf back;
APART static void fail(long depth) {
  if (depth == 0) longjmp(back, 1);
  fail(depth - 1);
  sink += 1;
}
APART static void jump() {
  for (volatile long i = 0; i < 100; i = i + 1) {
    if (setjmp(back) == 0) fail(3);
    even(i);
  }
}

APART static void throw_deep(long depth) {
  if (depth == 0) throw depth;
  throw_deep(depth - 1);
  sink += 1;
}
APART static void unwind() {
  for (long i = 0; i < 50; ++i) {
    try {
      throw_deep(2);
    } catch (long) {
      odd(i);
    }
  }
}

static ucontext_t main_context, other_context;
APART static void work(long x) {
  sink += x;
}
static void other() {
  for (;;) {
    work(1);
    swapcontext(&other_context, &main_context);
  }
}
APART static void switch_stacks() {
  getcontext(&other_context);
  other_context.uc_stack.ss_sp = malloc(1 << 16);
  other_context.uc_stack.ss_size = 1 << 16;
  makecontext(&other_context, other, 0);
  for (long i = 0; i < 70; ++i) {
    swapcontext(&main_context, &other_context);
    work(2);
  }
}

/// For --roi: what it calls is inside, however control comes back from it.
APART static void region() {
  jump();
  unwind();
  switch_stacks();
}
APART static void outside() {
  even(1);
}

int main() {
  Square square;
  Circle circle;
  Shape* const shapes[] = {&square, &square, &circle, &square, &square};
  dispatch();
  draw(shapes);
  sink += fib(20);
  region();
  for (int i = 0; i < 11; ++i) outside();
  return 0;
}
