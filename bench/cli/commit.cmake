# Run at build time: writes the commit of SOURCE_DIR as a string literal to OUTPUT, if it changed.
execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
  WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE commit ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed OR NOT commit)
  set(commit unknown)
endif()
file(WRITE ${OUTPUT}.tmp "\"${commit}\"\n")
file(COPY_FILE ${OUTPUT}.tmp ${OUTPUT} ONLY_IF_DIFFERENT)
