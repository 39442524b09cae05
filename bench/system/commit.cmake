# Writes OUTPUT, a header with the commit of SOURCE_DIR, if it has changed. Runs at every build, so that figures never
# name the commit at which the build was configured.
execute_process(COMMAND git -C "${SOURCE_DIR}" describe --always --abbrev=12 --dirty=+ --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit "unknown")
endif()
set(text "#pragma once\n\n#define CAMBIUM_BENCH_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
