/* A stack machine that runs a program of loops: an operation in a hundred is one of the rare ones.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PUSH, ADD, SUB, MUL, SHIFT, LOAD, STORE, LESS, JUMP_IF, JUMP, CHECK, HALT };

typedef struct {
  uint8_t operation;
  int32_t operand;
} instruction;

static int64_t memory[64];
static uint64_t failures;

static void fail(const char* what, int64_t value) {
  if (++failures < 3) fprintf(stderr, "%s: %lld\n", what, (long long)value);
}

static int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    fail("overflow", a);
    return 0;
  }
  return product;
}

static int64_t bounded(int64_t value) {
  if (value < -1000000000000) {
    fail("too small", value);
    return -1000000000000;
  }
  if (value > 1000000000000) return value % 1000003;
  return value;
}

static int64_t run(const instruction* code) {
  int64_t stack[32];
  int depth = 0;
  for (const instruction* at = code;; ++at) {
    if (depth < 0 || depth > 30) fail("depth", depth);
    switch (at->operation) {
      case PUSH:
        stack[depth++] = at->operand;
        break;
      case ADD:
        --depth;
        stack[depth - 1] = bounded(stack[depth - 1] + stack[depth]);
        break;
      case SUB:
        --depth;
        stack[depth - 1] = bounded(stack[depth - 1] - stack[depth]);
        break;
      case MUL:
        --depth;
        stack[depth - 1] = bounded(checked_multiply(stack[depth - 1], stack[depth]));
        break;
      case SHIFT:
        --depth;
        if (stack[depth] < 0 || stack[depth] > 62) fail("shift", stack[depth]);
        stack[depth - 1] >>= stack[depth] & 63;
        break;
      case LOAD:
        if (at->operand < 0 || at->operand >= 64) fail("address", at->operand);
        stack[depth++] = memory[at->operand & 63];
        break;
      case STORE:
        if (at->operand < 0 || at->operand >= 64) fail("address", at->operand);
        memory[at->operand & 63] = stack[--depth];
        break;
      case LESS:
        --depth;
        stack[depth - 1] = stack[depth - 1] < stack[depth];
        break;
      case JUMP_IF:
        if (stack[--depth]) at = code + at->operand - 1;
        break;
      case JUMP:
        at = code + at->operand - 1;
        break;
      case CHECK:
        if (stack[depth - 1] == at->operand) fail("value", stack[depth - 1]);
        break;
      case HALT:
        return depth > 0 ? stack[depth - 1] : 0;
      default:
        fail("operation", at->operation);
    }
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  const instruction code[] = {{PUSH, 0},    {STORE, 0}, {PUSH, 1},  {STORE, 1}, /* i = 0; sum = 1 */
                              {LOAD, 1},    {PUSH, 3},  {MUL, 0},   {LOAD, 0},     {ADD, 0},
                              {CHECK, -7}, /* sum * 3 + i */
                              {STORE, 1},   {LOAD, 1},  {PUSH, 5},  {SHIFT, 0},    {LOAD, 1},
                              {SUB, 0}, /* (sum >> 5) - sum */
                              {PUSH, -1},   {MUL, 0},   {STORE, 1}, {LOAD, 0},     {PUSH, 1},
                              {ADD, 0},     {STORE, 0}, {LOAD, 0},  {PUSH, 10000}, {LESS, 0},
                              {JUMP_IF, 4}, {LOAD, 1},  {HALT, 0}};
  int64_t sum = 0;
  for (int i = 0; i < rounds; ++i) sum += run(code);
  printf("%lld %llu\n", (long long)sum, (unsigned long long)failures);
  return 0;
}
