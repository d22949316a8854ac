// pair: keyword_automaton
// branch: load_latency
// place: count_matches
// repair: letters are mapped to 32 classes, which makes the table of the automaton 16 times smaller
//
// Searches a text for thousands of keywords at once (Aho and Corasick). The next state is read
// from the row of the state before: each character waits for a line somewhere in 25 MB.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum { kKeywords = 4500, kLetters = 6, kMostStates = kKeywords * kLetters + 1 };
enum { kTextBytes = 2400000 };

#ifdef AFTER
enum { kColumns = 32 };
typedef uint16_t State;
static int column_of(unsigned char c) {
  return c & 31;
}
#else
enum { kColumns = 256 };
typedef uint32_t State;
static int column_of(unsigned char c) {
  return c;
}
#endif

typedef struct {
  State (*next)[kColumns];
  uint8_t* matches;
  uint32_t count;
} Automaton;

static uint32_t next_random(uint32_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static NOINLINE void make_keywords(char (*keywords)[kLetters]) {
  uint32_t seed = 5;
  for (int i = 0; i < kKeywords; ++i)
    for (int letter = 0; letter < kLetters; ++letter)
      keywords[i][letter] = (char)('a' + next_random(&seed) % 26);
}

static NOINLINE void insert_keywords(Automaton* automaton, char (*keywords)[kLetters]) {
  automaton->count = 1;
  for (int i = 0; i < kKeywords; ++i) {
    uint32_t state = 0;
    for (int letter = 0; letter < kLetters; ++letter) {
      State* next = &automaton->next[state][column_of((unsigned char)keywords[i][letter])];
      if (*next == 0) *next = (State)automaton->count++;
      state = *next;
    }
    automaton->matches[state] = 1;
  }
}

// Breadth first: a missing edge leads where the longest suffix that is a prefix would.
static NOINLINE void complete_edges(Automaton* automaton) {
  uint32_t* queue = calloc(kMostStates, sizeof *queue);
  uint32_t* suffix = calloc(kMostStates, sizeof *suffix);
  uint32_t first = 0, last = 1;
  while (first < last) {
    const uint32_t state = queue[first++];
    for (int column = column_of('a'); column <= column_of('z'); ++column) {
      State* next = &automaton->next[state][column];
      const State fallback = automaton->next[suffix[state]][column];
      if (*next == 0) {
        *next = state ? fallback : 0;
        continue;
      }
      suffix[*next] = state ? fallback : 0;
      automaton->matches[*next] |= automaton->matches[suffix[*next]];
      queue[last++] = *next;
    }
  }
  free(queue);
  free(suffix);
}

static NOINLINE void write_text(char* text, char (*keywords)[kLetters], uint32_t seed) {
  for (size_t at = 0; at + kLetters <= kTextBytes; at += kLetters) {
    const uint32_t random = next_random(&seed);
    memcpy(text + at, keywords[random % kKeywords], kLetters);
    if (random >> 30 == 0) text[at + kLetters - 1] = 'a';
  }
}

static NOINLINE uint64_t count_matches(const Automaton* automaton, const char* text) {
  uint64_t matches = 0;
  uint32_t state = 0;
  for (size_t i = 0; i < kTextBytes; ++i) {
    state = automaton->next[state][column_of((unsigned char)text[i])];
    matches += automaton->matches[state];
  }
  return matches;
}

static NOINLINE uint64_t count_pairs(const char* text) {
  static uint32_t pairs[32 * 32];
  uint64_t sum = 0;
  for (size_t apart = 1; apart <= 12; ++apart)
    for (size_t i = apart; i < kTextBytes; ++i)
      ++pairs[(text[i - apart] & 31) * 32 + (text[i] & 31)];
  for (int i = 0; i < 32 * 32; ++i) sum = sum * 31 + pairs[i];
  return sum;
}

int main(void) {
  char(*keywords)[kLetters] = calloc(kKeywords, kLetters);
  char* text = calloc(kTextBytes, 1);
  Automaton automaton = {calloc(kMostStates, sizeof(State[kColumns])), calloc(kMostStates, 1), 0};
  make_keywords(keywords);
  insert_keywords(&automaton, keywords);
  complete_edges(&automaton);
  uint64_t sum = automaton.count;
  for (uint32_t page = 1; page <= 3; ++page) {
    write_text(text, keywords, page * 1299709);
    sum = sum * 31 + count_matches(&automaton, text) + count_pairs(text);
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
