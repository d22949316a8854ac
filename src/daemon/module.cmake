# The BPF program of the room daemon: compiled by clang, and put into a header with bpftool, so
# that culprit is one file. Without these tools (Debian: clang-19, bpftool, libbpf-dev) the build
# is whole all the same: the daemon then reads the rings of perf_event, and says so.
find_program(CULPRIT_BPF_CLANG NAMES clang-19 clang)
find_program(CULPRIT_BPFTOOL bpftool HINTS /usr/sbin)
find_program(CULPRIT_BPF_STRIP NAMES llvm-strip-19 llvm-strip)
pkg_check_modules(LIBBPF IMPORTED_TARGET libbpf>=1.0)
set(bpf_target_x86_64 x86)
set(bpf_target_aarch64 arm64)
set(bpf_target ${bpf_target_${CMAKE_SYSTEM_PROCESSOR}})
if(CULPRIT_BPF_CLANG AND CULPRIT_BPFTOOL AND CULPRIT_BPF_STRIP AND LIBBPF_FOUND AND bpf_target)
  set(bpf_source ${CMAKE_CURRENT_SOURCE_DIR}/daemon/sampler.bpf.c)
  set(bpf_folder ${CMAKE_BINARY_DIR}/bpf)
  file(MAKE_DIRECTORY ${bpf_folder})
  if(CMAKE_CROSSCOMPILING)
    # Debian has the kernel's headers for other machines there, and bpf's own are the same for all.
    set(bpf_includes -I/usr/${CMAKE_LIBRARY_ARCHITECTURE}/include -I/usr/include)
  else()
    set(bpf_includes -I/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
  endif()
  add_custom_command(
    OUTPUT ${bpf_folder}/sampler.skel.h
    COMMAND ${CULPRIT_BPF_CLANG} -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_${bpf_target}
            ${bpf_includes} -I${CMAKE_CURRENT_SOURCE_DIR}
            -Wall -Wextra -c ${bpf_source} -o ${bpf_folder}/sampler.bpf.o
    COMMAND ${CULPRIT_BPF_STRIP} -g ${bpf_folder}/sampler.bpf.o
    COMMAND ${CULPRIT_BPFTOOL} gen skeleton ${bpf_folder}/sampler.bpf.o name sampler
            > ${bpf_folder}/sampler.skel.h
    DEPENDS ${bpf_source} ${CMAKE_CURRENT_SOURCE_DIR}/daemon/sample_table.h
    VERBATIM)
  add_custom_target(culprit_bpf DEPENDS ${bpf_folder}/sampler.skel.h)
  add_dependencies(culprit_daemon culprit_bpf)
  target_include_directories(culprit_daemon SYSTEM PRIVATE ${bpf_folder})
  target_link_libraries(culprit_daemon PRIVATE PkgConfig::LIBBPF)
  if(CULPRIT_SMALL)
    # It may be static, and then its own libraries are to be named.
    find_library(CULPRIT_LIBELF elf REQUIRED)
    find_library(CULPRIT_LIBZ z REQUIRED)
    target_link_libraries(culprit_daemon PRIVATE ${CULPRIT_LIBELF} ${CULPRIT_LIBZ})
  endif()
  target_compile_definitions(culprit_daemon PRIVATE CULPRIT_HAS_BPF)
else()
  message(STATUS "always-on by eBPF: left out (needs clang, llvm-strip, bpftool and libbpf-dev)")
endif()
