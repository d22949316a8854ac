/* Marked by LIKWID's functions, as its header declares them. */
#include <stdio.h>

int likwid_markerStartRegion(const char* name);
int likwid_markerStopRegion(const char* name);

int main(void) {
  for (int i = 0; i < 3; ++i) {
    likwid_markerStartRegion("serial");
    likwid_markerStopRegion("serial");
  }
#pragma omp parallel num_threads(2)
  {
    likwid_markerStartRegion("inside");
    likwid_markerStopRegion("inside");
  }
  puts("done");
  return 0;
}
