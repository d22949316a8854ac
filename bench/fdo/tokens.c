/* Words, numbers and operators of a text that a generator makes: most characters are letters. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 16];
static uint64_t counts[8];
static uint64_t errors;

static uint64_t state = 1;
static uint32_t next_random(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33);
}

static void make_text(void) {
  static const char letters[] = "etaoinshrdlucmfwypvbgk";
  for (size_t i = 0; i < sizeof text - 1;) {
    const uint32_t kind = next_random() % 100;
    const size_t length = kind < 90 ? 2 + next_random() % 8 : 1 + next_random() % 4;
    for (size_t k = 0; k < length && i < sizeof text - 1; ++k) {
      text[i++] = kind < 90   ? letters[next_random() % (sizeof letters - 1)]
                  : kind < 97 ? (char)('0' + next_random() % 10)
                              : "+-*/()"[next_random() % 6];
    }
    if (i < sizeof text - 1) text[i++] = kind % 9 ? ' ' : '\n';
  }
}

static void complain(const char* at, const char* what) {
  if (++errors < 3) fprintf(stderr, "%s at %.8s\n", what, at);
}

static int is_letter(unsigned char c) {
  if (c >= 128) return 0;
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static const char* take_number(const char* at, uint64_t* hash) {
  uint64_t value = 0;
  int digits = 0;
  for (; *at >= '0' && *at <= '9'; ++at) {
    if (++digits > 18) complain(at, "too long");
    value = value * 10 + (uint64_t)(*at - '0');
  }
  if (*at == '.') {
    complain(at, "fraction");
    ++at;
  } else if (*at == 'e' || *at == 'E') {
    complain(at, "exponent");
  }
  *hash ^= value * 31;
  return at;
}

static const char* take_word(const char* at, uint64_t* hash) {
  uint64_t word = 14695981039346656037u;
  for (; is_letter((unsigned char)*at) || (*at >= '0' && *at <= '9'); ++at) {
    word = (word ^ (unsigned char)*at) * 1099511628211u;
    if (word == 0) complain(at, "hash");
  }
  *hash += word;
  return at;
}

static uint64_t scan(void) {
  uint64_t hash = 0;
  int depth = 0;
  for (const char* at = text; *at;) {
    const unsigned char c = (unsigned char)*at;
    if (c == '"') {
      complain(at, "string");
      while (*++at && *at != '"') {
      }
    } else if (c == '#') {
      while (*at && *at != '\n') ++at;
      complain(at, "comment");
    } else if (c >= 128) {
      complain(at, "character");
      ++at;
    } else if (c == '\n') {
      ++counts[0];
      ++at;
    } else if (c == '(' || c == '[' || c == '{') {
      if (++depth > 1000000) complain(at, "depth");
      ++at;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
      ++at;
    } else if (c == '+' || c == '-' || c == '*' || c == '/') {
      ++counts[1];
      ++at;
    } else if (c >= '0' && c <= '9') {
      at = take_number(at, &hash);
      ++counts[2];
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
    } else if (is_letter(c)) {
      at = take_word(at, &hash);
      ++counts[3];
    } else {
      complain(at, "unknown");
      ++at;
    }
  }
  return hash + (uint64_t)depth;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  make_text();
  uint64_t sum = 0;
  for (int i = 0; i < rounds; ++i) sum ^= scan() + (uint64_t)i;
  printf("%llu %llu %llu\n", (unsigned long long)sum, (unsigned long long)counts[3],
         (unsigned long long)errors);
  return 0;
}
