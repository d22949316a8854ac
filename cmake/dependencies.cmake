# Third-party libraries, all from Debian packages (scripts/packages.txt).
# The small build (CULPRIT_SMALL) needs only SQLite, zstd and headers.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(SQLite3 REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
# libpfm4, whose event names of CPU makers the small build does without where it is missing.
find_path(PFM_INCLUDE perfmon/pfmlib_perf_event.h)
find_library(PFM_LIBRARY pfm)
if(PFM_INCLUDE AND PFM_LIBRARY)
  add_library(culprit_pfm INTERFACE)
  target_include_directories(culprit_pfm SYSTEM INTERFACE ${PFM_INCLUDE})
  target_link_libraries(culprit_pfm INTERFACE ${PFM_LIBRARY})
  target_compile_definitions(culprit_pfm INTERFACE CULPRIT_HAS_PFM)
  set(CULPRIT_PFM culprit_pfm)
elseif(NOT CULPRIT_SMALL)
  message(FATAL_ERROR "libpfm4 is missing (Debian: libpfm4-dev)")
endif()
if(CULPRIT_TESTS)
  find_package(GTest REQUIRED)
endif()
if(CULPRIT_SMALL)
  # Debian has no static library of fmt: the small build, which may be static, takes its headers.
  find_path(FMT_INCLUDE fmt/format.h REQUIRED)
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
else()
  find_package(fmt REQUIRED)
  find_package(ZLIB REQUIRED)
  find_path(PROTOZERO_INCLUDE protozero/pbf_writer.hpp REQUIRED)  # headers only
  pkg_check_modules(ELFUTILS REQUIRED IMPORTED_TARGET libdw libelf)
  pkg_check_modules(DEBUGINFOD REQUIRED libdebuginfod)  # its header: it is loaded when needed
  pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
  pkg_check_modules(LZMA REQUIRED IMPORTED_TARGET liblzma)
  pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw)
  find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19)
  add_library(culprit_llvm INTERFACE)
  target_include_directories(culprit_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
  # LLVM's static libraries, and of these only what is called: loading and relocating the
  # shared one takes 25 ms of every start, which is most of a small report.
  target_link_libraries(culprit_llvm INTERFACE
    LLVMX86Disassembler LLVMX86Desc LLVMX86Info
    LLVMAArch64Disassembler LLVMAArch64Desc LLVMAArch64Info
    LLVMMCDisassembler LLVMMC LLVMDebugInfoDWARF LLVMObject LLVMSupport LLVMDemangle)
  target_link_options(culprit_llvm INTERFACE -Wl,--gc-sections -Wl,--as-needed)
endif()
