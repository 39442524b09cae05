# Builds the floors, tests and programs of the project: warnings, sanitizers and hooks in one place.
add_library(cambium_flags INTERFACE)
target_compile_options(cambium_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2
  -Wimplicit-fallthrough -fno-omit-frame-pointer $<IF:$<CXX_COMPILER_ID:GNU>,-Wcast-align=strict,-Wcast-align>)
if(CAMBIUM_WERROR)
  target_compile_options(cambium_flags INTERFACE -Werror)
endif()
if(PROJECT_IS_TOP_LEVEL AND NOT CAMBIUM_TEST_HOOKS)
  # What users get has no paths of the build: the same sources give the same bytes in any directory
  # (tools/check_reproducible.sh). A build for tests keeps its paths, for debuggers.
  target_compile_options(cambium_flags INTERFACE
    -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Both check the annotations of src/util/thread_annotations.h. The second one checks the order of locks, too.
  target_compile_options(cambium_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety> $<$<COMPILE_LANGUAGE:CXX>:-Wthread-safety-beta>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O3, gcc before 13 warns of overlaps inside std::string that do not exist (its bug 105651).
  target_compile_options(cambium_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
# The level, 0 or 1, at which test builds compile the tests' own code, the tool's and the bench's; the library is always
# optimised as its preset says. Folders whose tests compute much themselves have 1. With sanitizers the level is always
# 0. In a release, and in debug builds, the property has no effect.
define_property(TARGET PROPERTY CAMBIUM_TEST_OPTIMISATION INHERITED)
set(is_test_code $<NOT:$<STREQUAL:$<TARGET_PROPERTY:CAMBIUM_TEST_OPTIMISATION>,>>)
set(test_options)
if(CAMBIUM_SANITIZE)
  set(test_options -O0)
  if(CAMBIUM_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Each check is a call, not code in place: the same checks, in a sixth less time to compile. The library, which the
    # tests spend most of their time in, has its checks in place.
    list(APPEND test_options "SHELL:--param asan-instrumentation-with-call-threshold=0")
  endif()
elseif(CAMBIUM_TEST_HOOKS AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(test_options -O$<TARGET_PROPERTY:CAMBIUM_TEST_OPTIMISATION>)
endif()
# Command lines are parsed, and reports are written, once in a run: a release compiles them at -O1, in 60 % of the time.
define_property(TARGET PROPERTY CAMBIUM_RUNS_ONCE INHERITED)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(cambium_flags INTERFACE "$<$<BOOL:$<TARGET_PROPERTY:CAMBIUM_RUNS_ONCE>>:-O1>")
endif()
if(CAMBIUM_JOIN_SOURCES AND CAMBIUM_TEST_HOOKS AND NOT CAMBIUM_SANITIZE)
  # Debug information takes a fifth of the time to compile a test, and a failed assertion tells its line without it. A
  # sanitizer's report needs it.
  list(APPEND test_options -g0)
endif()
target_compile_options(cambium_flags INTERFACE "$<${is_test_code}:${test_options}>")
if(CAMBIUM_SANITIZE)
  target_compile_options(cambium_flags INTERFACE -fsanitize=${CAMBIUM_SANITIZE})
  target_compile_options(cambium_flags INTERFACE -fno-sanitize-recover=all)
  if(CAMBIUM_SANITIZE MATCHES "undefined")
    # These two checks precede every access through a pointer; without them, joined sources compile in half the time. A
    # null pointer ends a program without them too, and -Wcast-align finds most casts that can make a misaligned pointer
    # (docs/adr/0053-casts-are-checked-for-alignment-by-the-compiler.md).
    target_compile_options(cambium_flags INTERFACE -fno-sanitize=null,alignment)
    if(NOT CAMBIUM_FUZZ)
      # With its check of calls through pointers to functions, which gcc lacks, clang 14 does not compile coroutines.
      target_compile_options(cambium_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
    endif()
  endif()
  target_link_options(cambium_flags INTERFACE -fsanitize=${CAMBIUM_SANITIZE})
  # With a sanitizer, or without optimisation, gcc knows less about values and gives these warnings falsely.
  target_compile_options(cambium_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-format-truncation>)
endif()
if(CAMBIUM_FUZZ)
  target_compile_options(cambium_flags INTERFACE -fsanitize=fuzzer-no-link)  # counts which edges an input reaches
endif()
if(CAMBIUM_TEST_HOOKS)
  target_compile_definitions(cambium_flags INTERFACE CAMBIUM_TEST_HOOKS=1 _GLIBCXX_ASSERTIONS=1)
endif()
target_include_directories(cambium_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

# cambium_join_sources(TARGET [COUNT]): if CAMBIUM_JOIN_SOURCES is on, the target's sources are compiled COUNT at a
# time: ten by default, all at once if COUNT is 0.
function(cambium_join_sources target)
  if(CAMBIUM_JOIN_SOURCES)
    set(count 10)
    if(ARGC GREATER 1)
      set(count ${ARGV1})
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# A build spends much of its time parsing the standard library. The headers of floors are not precompiled, so a file
# that does not include one of them fails to compile, unless its folder is joined. gcc warns about code of the standard
# library if its headers are precompiled, so with gcc the option is off by default.
set(precompile OFF)
if(CAMBIUM_JOIN_SOURCES AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  set(precompile ON)
endif()
option(CAMBIUM_PRECOMPILE_STANDARD_HEADERS "Parse the headers of the standard library once for all floors" ${precompile})
if(CAMBIUM_PRECOMPILE_STANDARD_HEADERS)
  add_library(cambium_standard_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/standard_headers.cc)
  target_link_libraries(cambium_standard_headers PRIVATE cambium_flags)
  target_precompile_headers(cambium_standard_headers PRIVATE ${PROJECT_SOURCE_DIR}/cmake/standard_headers.h)
endif()

# cambium_floor(util SOURCES a.cc ... DEPS cambium_x PkgConfig::Y): one folder of src/ as one target, cambium_util.
# APART: its sources are never joined, because programs link some of them without the dependencies of the rest.
function(cambium_floor name)
  cmake_parse_arguments(ARG "APART" "" "SOURCES;DEPS" ${ARGN})
  add_library(cambium_${name} STATIC ${ARG_SOURCES})
  if(NOT ARG_APART)
    cambium_join_sources(cambium_${name})
  endif()
  if(TARGET cambium_standard_headers)
    target_precompile_headers(cambium_${name} REUSE_FROM cambium_standard_headers)
  endif()
  target_link_libraries(cambium_${name} PUBLIC cambium_flags ${ARG_DEPS})
endfunction()

# cambium_library(cambium STATIC FLOORS util io ... DEPS Threads::Threads ...) makes one library of floors, STATIC or
# SHARED; DEPS are the libraries that they need from outside. The objects are those of the floors, compiled once. A
# program links such a library or floors, not both. A shared library is called OUTPUT_NAME, and exports what the file
# EXPORTS in cmake/ lists.
function(cambium_library name kind)
  cmake_parse_arguments(ARG "" "OUTPUT_NAME;EXPORTS" "FLOORS;DEPS" ${ARGN})
  list(TRANSFORM ARG_FLOORS REPLACE "(.+)" "$<TARGET_OBJECTS:cambium_\\1>" OUTPUT_VARIABLE objects)
  add_library(${name} ${kind} ${objects})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
  if(kind STREQUAL "SHARED")
    # The version number of the C interface, read from its header.
    file(STRINGS ${PROJECT_SOURCE_DIR}/include/cambium/c.h abi REGEX "define CAMBIUM_ABI_VERSION ")
    string(REGEX REPLACE ".* " "" abi "${abi}")
    set(exports ${PROJECT_SOURCE_DIR}/cmake/${ARG_EXPORTS})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT_NAME} SOVERSION ${abi}
      VERSION ${abi}.${PROJECT_VERSION} LINK_DEPENDS ${exports})
    target_link_options(${name} PRIVATE -Wl,--version-script=${exports})
    if(CAMBIUM_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # clang links a sanitizer's functions only to programs, and those for C++ only to programs in C++.
      target_link_options(${name} INTERFACE -fsanitize-link-c++-runtime)
      target_link_libraries(${name} INTERFACE stdc++)
    else()
      target_link_options(${name} PRIVATE -Wl,--no-undefined)
    endif()
    target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  else()
    target_compile_features(${name} INTERFACE cxx_std_20)
    target_link_libraries(${name} INTERFACE ${ARG_DEPS})
  endif()
  if(CAMBIUM_SANITIZE)
    target_link_options(${name} PUBLIC -fsanitize=${CAMBIUM_SANITIZE})
  endif()
endfunction()

# cambium_join_tests(index): with CAMBIUM_JOIN_SOURCES the tests that follow in this folder are one program,
# index_tests; those that start threads are another one, index_threads_tests. So their headers and templates compile
# once. ctest, and the targets that build a test, still know each test by its own name. The programs have the
# dependencies of all their tests. A test with APART is a program of its own. If another file of the program defines the
# same names, a file needs a namespace with the file's name.
macro(cambium_join_tests folder)
  if(CAMBIUM_JOIN_SOURCES)
    set(CAMBIUM_JOINED_TESTS ${folder})
  endif()
endmacro()

# cambium_test(coding_test SOURCES coding_test.cc DEPS cambium_util [LABELS slow]): one test program, known to ctest.
# With BOTH_INDEXES it runs a second time, as coding_test_lsm, with databases that have an LSM (testing/index_mode.h). A
# program has the label "threads" if one of its sources starts a thread. THREADS sets the label if only code that it
# calls starts one. CI runs these programs under ThreadSanitizer.
function(cambium_test name)
  cmake_parse_arguments(ARG "BOTH_INDEXES;THREADS;APART" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  set(sources)
  # scarce_memory.cc replaces operator new and delete, which gcc must not inline into a test.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/testing/scarce_memory.cc
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  foreach(source ${ARG_SOURCES})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND sources ${source})
    file(STRINGS ${source} starting REGEX "std::(j?thread|async)[^_]" LIMIT_COUNT 1)
    if(starting)
      set(ARG_THREADS ON)
    endif()
  endforeach()
  if(ARG_THREADS)
    list(APPEND ARG_LABELS threads)
  endif()

  set(program ${name})
  set(arguments)
  if(CAMBIUM_JOINED_TESTS AND NOT ARG_APART)
    if(ARG_THREADS)
      set(program ${CAMBIUM_JOINED_TESTS}_threads_tests)
    else()
      set(program ${CAMBIUM_JOINED_TESTS}_tests)
    endif()
    set(arguments ${sources})
    add_custom_target(${name} DEPENDS ${program})
  endif()
  if(NOT TARGET ${program})
    add_executable(${program})
    cambium_join_sources(${program} 0)
    target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    if(program STREQUAL name)
      target_link_libraries(${program} PRIVATE GTest::gtest_main)
    else()
      target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests/testing/joined_main.cc)
      target_link_libraries(${program} PRIVATE GTest::gtest)
    endif()
    get_target_property(level ${program} CAMBIUM_TEST_OPTIMISATION)
    if(TARGET cambium_precompiled_${level})
      target_precompile_headers(${program} REUSE_FROM cambium_precompiled_${level})
    endif()
  endif()
  target_sources(${program} PRIVATE ${sources})
  target_link_libraries(${program} PRIVATE ${ARG_DEPS})

  add_test(NAME ${name} COMMAND ${program} ${arguments})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  # Tests allocate and free many large blocks for simulated files. If malloc keeps freed blocks, instead of returning
  # them to the system, a test of crashes or damage takes a third less time.
  set(environment GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432:glibc.malloc.trim_threshold=4294967296)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
  set(tests ${name})
  if(ARG_BOTH_INDEXES)
    add_test(NAME ${name}_lsm COMMAND ${program} ${arguments})
    set_tests_properties(${name}_lsm PROPERTIES ENVIRONMENT "${environment};CAMBIUM_INDEX=lsm")
    list(APPEND tests ${name}_lsm)
  endif()
  # Tests that may take longest start first: then no processor is idle at the end. A test that hangs must end, but on a
  # machine with other work a test may take many times as long as alone.
  set(timeout ${ARG_TIMEOUT})
  if(timeout LESS 1200)
    set(timeout 1200)
  endif()
  set_tests_properties(${tests} PROPERTIES TIMEOUT ${timeout} COST ${ARG_TIMEOUT})
  if(ARG_LABELS)
    set_tests_properties(${tests} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
