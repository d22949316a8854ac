/* Marks regions of a program for `culprit record --regions`. Nothing has to be linked: without
 * Culprit a mark is a test of a pointer, which is NULL.
 *
 *   CULPRIT_REGION("solve");                   C (GCC, Clang) and C++: up to the end of the block
 *
 *   CULPRIT_REGION_BEGIN("solve");             anywhere; the end may be in another function
 *   CULPRIT_REGION_END("solve");
 *
 * A region is known by its name, wherever it is marked; each thread has its own. Fortran:
 * culprit_region.f90 beside this file. */
#ifndef CULPRIT_REGION_H
#define CULPRIT_REGION_H

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak)) void culprit_region_begin(const char* name);
__attribute__((weak)) void culprit_region_end(const char* name);

#ifdef __cplusplus
}
#endif

#define CULPRIT_REGION_BEGIN(name)                             \
  do {                                                         \
    if (culprit_region_begin != 0) culprit_region_begin(name); \
  } while (0)
#define CULPRIT_REGION_END(name)                           \
  do {                                                     \
    if (culprit_region_end != 0) culprit_region_end(name); \
  } while (0)

#define CULPRIT_REGION_JOINED(a, b) a##b
#define CULPRIT_REGION_UNIQUE(a, b) CULPRIT_REGION_JOINED(a, b)

#ifdef __cplusplus

namespace culprit {

class MarkedRegion {
 public:
  __attribute__((always_inline)) explicit MarkedRegion(const char* name) : name_(name) {
    CULPRIT_REGION_BEGIN(name_);
  }
  MarkedRegion(const MarkedRegion&) = delete;
  MarkedRegion& operator=(const MarkedRegion&) = delete;
  __attribute__((always_inline)) ~MarkedRegion() { CULPRIT_REGION_END(name_); }

 private:
  const char* name_;
};

}  // namespace culprit

#define CULPRIT_REGION(name) \
  const ::culprit::MarkedRegion CULPRIT_REGION_UNIQUE(culprit_region_, __LINE__)(name)

#else

__attribute__((always_inline)) static inline const char* culprit_region_enter(const char* name) {
  CULPRIT_REGION_BEGIN(name);
  return name;
}

__attribute__((always_inline)) static inline void culprit_region_leave(const char** name) {
  CULPRIT_REGION_END(*name);
}

#define CULPRIT_REGION(name)                                                                \
  __attribute__((cleanup(culprit_region_leave), unused)) const char* CULPRIT_REGION_UNIQUE( \
      culprit_region_, __LINE__) = culprit_region_enter(name)

#endif

#endif
