// Some 200,000 instructions with calls, a switch, calls through pointers and a recursion, for
// tests that follow each of them. Without a library: nothing else runs.
#define KEEP __attribute__((noinline, noclone))
static unsigned state = 1;

KEEP unsigned next(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

KEEP unsigned odd(unsigned x) {
  return x * 3 + 1;
}
KEEP unsigned even(unsigned x) {
  return x / 2;
}

KEEP unsigned choose(unsigned x) {
  unsigned (*const both[])(unsigned) = {even, odd};
  return both[x & 1](x);
}

KEEP unsigned pick(unsigned x) {
  switch (x % 6) {
    case 0:
      return x + 7;
    case 1:
      return x ^ 5;
    case 2:
      return choose(x);
    case 3:
      return x << 1;
    case 4:
      return x - 3;
    default:
      return next();
  }
}

KEEP unsigned sum(unsigned n) {
  unsigned total = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (next() & 1)
      total += i;
    else
      total ^= i;
  }
  return total;
}

KEEP unsigned deep(unsigned n) {
  return n == 0 ? next() : deep(n - 1) + 1;
}

void _start(void) {
  unsigned total = 0;
  for (int i = 0; i < 1500; ++i) {
    total += pick(next());
    if (i % 8 == 0) total += sum(next() % 40);
    if (i % 16 == 0) total += deep(i % 7);
  }
  __asm__ volatile("syscall" : : "a"(60), "D"(total & 0) : "memory");
  for (;;) {
  }
}
