# cmake --install BUILD [--prefix DIR]: the program, the libraries that it puts into other programs,
# the kernels that calibrate and validate run, the machine files and templates, the header of regions,
# and a manual page for each command.
include(GNUInstallDirs)

install(TARGETS culprit RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS culprit_timer culprit_regions_shim culprit_qemu culprit_costs culprit_frames
        culprit_one_cpu culprit_no_subnormals
        LIBRARY DESTINATION lib/culprit)  # where base/program_files.cc looks
install(TARGETS culprit_kernels RUNTIME DESTINATION lib/culprit)
install(DIRECTORY data/templates data/uarch data/scan DESTINATION share/culprit)
install(DIRECTORY include/culprit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(CODE "
  execute_process(COMMAND \"${CMAKE_SOURCE_DIR}/scripts/man_pages.py\" \"${CMAKE_BINARY_DIR}/culprit\"
                          \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\"
                  COMMAND_ERROR_IS_FATAL ANY)")
