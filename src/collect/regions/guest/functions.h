/* Functions whose calls are regions, though nothing marks them (record --region FUNCTION). */
#ifndef CULPRIT_REGIONS_FUNCTIONS_H
#define CULPRIT_REGIONS_FUNCTIONS_H

/* Puts wrappers around those that the host asks for and that are in memory by now. */
void functions_prepare(void);

#endif
