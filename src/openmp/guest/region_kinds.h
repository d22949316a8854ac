/* The kinds of constructs and what more is known of them, as numbers: for the host, and for what
 * runs inside other programs. */
#ifndef CULPRIT_OPENMP_REGION_KINDS_H
#define CULPRIT_OPENMP_REGION_KINDS_H

enum culprit_region_kind {
#define KIND(symbol, word) CULPRIT_KIND_##symbol,
#include "openmp/guest/region_kinds.def"
#undef KIND
  CULPRIT_KINDS
};

/* What more is known of a construct: of loops the schedule. */
enum culprit_region_detail {
  CULPRIT_DETAIL_NONE,
  CULPRIT_DETAIL_STATIC,
  CULPRIT_DETAIL_DYNAMIC,
  CULPRIT_DETAIL_GUIDED,
  CULPRIT_DETAIL_RUNTIME,
  CULPRIT_DETAIL_OTHER,
  CULPRIT_DETAIL_NAMED, /* of critical */
  CULPRIT_DETAILS
};

#endif
