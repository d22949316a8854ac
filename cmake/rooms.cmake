# A room is a folder under src/: one static library from its *.cc, one test
# program from its *_test.cc.
#
#   culprit_room(store USES model LIBRARIES SQLite::SQLite3)
#   culprit_room(simulate/machine USES base)      # culprit_simulate_machine, simulate_machine_test
#
# USES names the rooms it may include (tests/rooms_test.py checks the includes
# against the same table); LIBRARIES are third-party targets; LIVE says that its
# tests run programs (scripts/test.sh gives those another try), ALONE that they
# measure time, and nothing may run beside them.
#
# With CMAKE_UNITY_BUILD (all presets but files) a room is compiled as one file, and so are its
# tests: that takes less time and finds helpers that it has twice. APART says that its
# files cannot be: their libraries' headers disagree, or tests link only some of them.
enable_testing()
include(GoogleTest)

if(CULPRIT_TESTS AND NOT CULPRIT_SMALL)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_folders.cc CONTENT [[
#include "base/test_folders.h"
namespace culprit {
std::string source_folder() { return "@CMAKE_SOURCE_DIR@"; }
std::string binary_folder() { return "@CMAKE_BINARY_DIR@"; }
}  // namespace culprit
]] @ONLY)
  add_custom_target(unit_tests)
  add_library(test_folders STATIC ${CMAKE_BINARY_DIR}/test_folders.cc)
  target_include_directories(test_folders PRIVATE ${CMAKE_SOURCE_DIR}/src)
  add_library(test_parts INTERFACE)
  target_link_libraries(test_parts INTERFACE test_folders GTest::gtest GTest::gtest_main)
  # Only what they test must be fast.
  target_compile_options(test_parts INTERFACE -O0)
  if(NOT CMAKE_UNITY_BUILD)
    # What every test includes is compiled once, and not with each.
    file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cc "")
    add_library(test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cc)
    target_precompile_headers(test_headers PRIVATE <gtest/gtest.h> <filesystem> <fstream> <random>)
    target_link_libraries(test_headers PRIVATE test_parts)
  endif()
endif()

function(culprit_room folder)
  cmake_parse_arguments(arg "LIVE;ALONE;APART" "" "USES;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cc)
  list(REMOVE_ITEM sources ${tests} ${CMAKE_SOURCE_DIR}/src/${folder}/main.cc)
  if(NOT sources)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cc "")
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cc)
  endif()
  add_library(culprit_${name} STATIC ${sources})
  target_include_directories(culprit_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM arg_USES REPLACE "/" "_")
  list(TRANSFORM arg_USES PREPEND culprit_)
  target_link_libraries(culprit_${name} PUBLIC ${arg_USES} PRIVATE ${arg_LIBRARIES})
  if(CULPRIT_TESTS AND tests)
    culprit_room_tests(${name} "${tests}" "${arg_LIBRARIES}" ${arg_LIVE} ${arg_ALONE})
  endif()
  if(arg_APART)
    set(apart culprit_${name})
    if(TARGET ${name}_test)
      list(APPEND apart ${name}_test)
    endif()
    set_target_properties(${apart} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# A room's test program. It runs as one test, in one process, and its own report (gtest/NAME.xml)
# tells its cases apart. Those of a LIVE room are each a test of ctest, which can try one again.
# The others are not part of `all` but of `unit_tests`: the whole run builds them with sanitizers only.
function(culprit_room_tests name tests libraries is_live is_alone)
  add_executable(${name}_test ${tests})
  target_link_libraries(${name}_test PRIVATE culprit_${name} ${libraries} test_parts)
  if(TARGET test_headers)
    target_precompile_headers(${name}_test REUSE_FROM test_headers)
  endif()
  if(is_live)
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                         PROPERTIES LABELS live RUN_SERIAL ${is_alone})
  else()
    set_target_properties(${name}_test PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(unit_tests ${name}_test)
    add_test(NAME ${name}_test
      COMMAND ${name}_test --gtest_brief=1 --gtest_output=xml:${CMAKE_BINARY_DIR}/gtest/${name}_test.xml)
    set_tests_properties(${name}_test PROPERTIES TIMEOUT 600)
  endif()
endfunction()
