# A room is a folder under src/: one static library from its *.cc, one test
# program from its *_test.cc.
#
#   culprit_room(store USES model LIBRARIES SQLite::SQLite3)
#   culprit_room(simulate/machine USES base)      # culprit_simulate_machine, simulate_machine_test
#
# USES names the rooms it may include (tests/rooms_test.py checks the includes
# against the same table); LIBRARIES are third-party targets; LIVE says that its
# tests sample running programs (scripts/test.sh gives those another try).
#
# With CMAKE_UNITY_BUILD (the asan preset, the small build of arm_test.py) a room is compiled as one
# file, which takes less time and finds helpers that it has twice; APART says that its files cannot
# be: their libraries' headers disagree, or tests link only some of them.
enable_testing()
include(GoogleTest)

# What every test includes is compiled once, and not with each.
if(CULPRIT_TESTS AND NOT CULPRIT_SMALL)
  file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cc "")
  add_library(test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cc)
  target_precompile_headers(test_headers PRIVATE <gtest/gtest.h> <filesystem> <fstream> <random>)
  target_link_libraries(test_headers PRIVATE GTest::gtest)
  set_target_properties(test_headers PROPERTIES UNITY_BUILD OFF)
  # With sanitizers clang takes twice as long to optimize tests; only what they test must be fast.
  target_compile_options(test_headers PUBLIC $<$<CXX_COMPILER_ID:Clang>:-O0>)
endif()

function(culprit_room folder)
  cmake_parse_arguments(arg "LIVE;APART" "" "USES;LIBRARIES" ${ARGN})
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
  if(arg_APART)
    set_target_properties(culprit_${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(CULPRIT_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE culprit_${name} ${arg_LIBRARIES} GTest::gtest GTest::gtest_main)
    set_target_properties(${name}_test PROPERTIES UNITY_BUILD OFF)
    target_precompile_headers(${name}_test REUSE_FROM test_headers)
    # Tests find build products (fixtures, example programs) here.
    target_compile_definitions(${name}_test PRIVATE
      CULPRIT_SOURCE_DIR="${CMAKE_SOURCE_DIR}" CULPRIT_BINARY_DIR="${CMAKE_BINARY_DIR}")
    target_compile_options(${name}_test PRIVATE $<TARGET_PROPERTY:test_headers,INTERFACE_COMPILE_OPTIONS>)
    # "live" tests sample running programs: how a shared machine schedules them is not ours.
    set(labels)
    if(arg_LIVE)
      set(labels PROPERTIES LABELS live RUN_SERIAL TRUE)
    endif()
    gtest_discover_tests(${name}_test TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST ${labels})
  endif()
endfunction()
