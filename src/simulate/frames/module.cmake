# libculprit_frames.so: the room simulate/frames, with elfutils, for the plugin to load beside itself.
# Nobody sees more of it than one function.
add_library(culprit_frames MODULE simulate/frames/module.cc simulate/frames/dwarf_frames.cc)
target_link_libraries(culprit_frames PRIVATE culprit_simulate_objects PkgConfig::ELFUTILS)
target_link_options(culprit_frames PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections
                                           -Wl,--exclude-libs,ALL)
set_target_properties(culprit_frames PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_dependencies(culprit culprit_frames)
