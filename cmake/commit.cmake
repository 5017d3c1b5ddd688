# Writes commit.h when the commit has changed:  cmake -DSOURCE=... -DOUT=... -DVERSION=... -P commit.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --exclude "*"
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit "unknown commit")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT
  "#pragma once\n#define HWTV_VERSION \"${VERSION}\"\n#define HWTV_COMMIT \"${commit}\"\n")
