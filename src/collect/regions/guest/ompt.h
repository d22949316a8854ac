/* The tool of runtimes that have OpenMP's tool interface (LLVM's and those made from it). */
#ifndef CULPRIT_REGIONS_OMPT_H
#define CULPRIT_REGIONS_OMPT_H

/* Whether a runtime has started us as its tool. */
int ompt_has_started(void);

#endif
