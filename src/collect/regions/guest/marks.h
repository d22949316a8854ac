/* Regions that programs mark, whoever told us of them. */
#ifndef CULPRIT_REGIONS_MARKS_H
#define CULPRIT_REGIONS_MARKS_H

#include <stdint.h>

/* `length`: of the name, at most; `site`: where it was marked, 0 if unknown. */
void mark_begin(const char* name, uint64_t length, uint64_t site);
/* The innermost of that name, or of any (NULL). */
void mark_end(const char* name, uint64_t length, uint64_t site);

#endif
