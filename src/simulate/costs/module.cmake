# libculprit_costs.so: the room simulate/costs, with code/costs and what that needs of LLVM in it,
# for the plugin to load beside itself. Nobody sees more of it than one function.
add_library(culprit_costs MODULE simulate/costs/module.cc)
target_link_libraries(culprit_costs PRIVATE culprit_simulate_costs culprit_code_costs culprit_llvm)
target_link_options(culprit_costs PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections
                                          -Wl,--exclude-libs,ALL)
set_target_properties(culprit_costs PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set_target_properties(culprit_simulate_costs culprit_code_costs culprit_code_decoder PROPERTIES
                      POSITION_INDEPENDENT_CODE ON)
add_dependencies(culprit culprit_costs)
