# Where ccache is installed, what was compiled once is not compiled again: in no build folder and
# in no other clone, since paths under the source folder count from the build folder. Its files are
# where ccache keeps them (~/.cache/ccache), outside the clone. -DCULPRIT_CCACHE=OFF: without.
option(CULPRIT_CCACHE "use ccache where it is installed" ON)
find_program(CCACHE_PROGRAM ccache)
if(CULPRIT_CCACHE AND CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  add_compile_options(-fmacro-prefix-map=../../=)  # what the source folder is to the build folder
endif()
