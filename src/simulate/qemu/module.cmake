# libculprit_qemu.so: the room simulate/qemu as QEMU loads it. QEMU brings the functions
# that it calls, and no C++ library: what we use of one comes along, seen by nobody else.
add_library(culprit_qemu MODULE simulate/qemu/plugin.cc)
target_link_libraries(culprit_qemu PRIVATE culprit_simulate_qemu culprit_simulate_counting
                                           culprit_simulate_turns culprit_simulate_counts
                                           culprit_simulate_machine culprit_simulate_objects
                                           culprit_openmp)
target_link_options(culprit_qemu PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections
                                         -Wl,--exclude-libs,ALL)
set_target_properties(culprit_qemu PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# These run once per simulated instruction: fast in every build.
target_compile_options(culprit_qemu PRIVATE -O2 -fvisibility=hidden)
target_compile_options(culprit_simulate_counting PRIVATE -O2 -fvisibility=hidden)
target_compile_options(culprit_simulate_turns PRIVATE -O2 -fvisibility=hidden)
target_compile_options(culprit_simulate_counts PRIVATE -O2 -fvisibility=hidden)
target_compile_options(culprit_simulate_qemu PRIVATE -O2 -fvisibility=hidden)
target_compile_options(culprit_simulate_objects PRIVATE -O2 -fvisibility=hidden)
target_compile_options(culprit_simulate_machine PRIVATE -O2 -fvisibility=hidden
  $<$<CXX_COMPILER_ID:GNU>:-ftree-loop-vectorize -fvect-cost-model=dynamic>)
set_target_properties(culprit_base culprit_openmp culprit_toml culprit_code culprit_simulate_machine culprit_simulate_counting
                      culprit_simulate_turns culprit_simulate_counts culprit_simulate_objects culprit_simulate_qemu PROPERTIES
                      POSITION_INDEPENDENT_CODE ON)
add_dependencies(culprit culprit_qemu)
# The way of an access goes through several files.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(culprit_simulate_counting PRIVATE -flto=2 -ffat-lto-objects)
  target_compile_options(culprit_simulate_turns PRIVATE -flto=2 -ffat-lto-objects)
  target_compile_options(culprit_simulate_counts PRIVATE -flto=2 -ffat-lto-objects)
  target_compile_options(culprit_simulate_qemu PRIVATE -flto=2 -ffat-lto-objects)
  target_compile_options(culprit_simulate_machine PRIVATE -flto=2 -ffat-lto-objects)
  target_compile_options(culprit_qemu PRIVATE -flto=2 -ffat-lto-objects)
  target_link_options(culprit_qemu PRIVATE -flto=2 -O2)
endif()
