/* Building and reading short texts without stdio, as signal handlers must. */
#ifndef CULPRIT_GUEST_TEXT_H
#define CULPRIT_GUEST_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
  char* buffer;
  size_t capacity;
  size_t length; /* capacity or more: it did not fit */
};

static inline void text_add(struct text* text, const char* piece) {
  const size_t size = strlen(piece);
  if (text->length + size < text->capacity) memcpy(text->buffer + text->length, piece, size);
  text->length += size;
}

static inline void text_add_number(struct text* text, uint64_t number) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = '\0';
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  text_add(text, digits + at);
}

/* Terminates it; 0 if it did not fit. */
static inline int text_finish(struct text* text) {
  if (text->length >= text->capacity) return 0;
  text->buffer[text->length] = '\0';
  return 1;
}

/* Reads digits of `base` (10 or 16) from *at and moves *at behind them. */
static inline uint64_t text_take_number(const char** at, unsigned base) {
  uint64_t number = 0;
  for (;; ++*at) {
    const char c = **at;
    unsigned digit;
    if (c >= '0' && c <= '9') {
      digit = (unsigned)(c - '0');
    } else if (base == 16 && c >= 'a' && c <= 'f') {
      digit = (unsigned)(c - 'a') + 10;
    } else {
      return number;
    }
    number = number * base + digit;
  }
}

#endif
