# Cross-compiles static programs for 64-bit Arm, with the libraries that
# fetch_packages.sh has unpacked. For the small build (-DCULPRIT_SMALL=ON).
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=tests/arm/aarch64.cmake -DCULPRIT_ARM_ROOT=FOLDER/root ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CULPRIT_ARM_ROOT)

set(CMAKE_FIND_ROOT_PATH ${CULPRIT_ARM_ROOT})
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${CULPRIT_ARM_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CULPRIT_ARM_ROOT})

# Headers that are included by path alone, and nothing else lies there.
set(CMAKE_C_FLAGS_INIT "-isystem ${CULPRIT_ARM_ROOT}/usr/include")
set(CMAKE_CXX_FLAGS_INIT "-isystem ${CULPRIT_ARM_ROOT}/usr/include")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
