# `make install`: the program, its manual page and its completions, which the program itself tells.
include(GNUInstallDirs)
set(shop ${CMAKE_BINARY_DIR}/shop)
set(run_hwtv ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:hwtv>)
file(MAKE_DIRECTORY ${shop})

add_custom_command(OUTPUT ${shop}/hwtv.1
  COMMAND ${HWTV_PYTHON} ${CMAKE_SOURCE_DIR}/scripts/make_man.py ${shop}/hwtv.1 ${run_hwtv}
  DEPENDS hwtv ${CMAKE_SOURCE_DIR}/scripts/make_man.py ${CMAKE_SOURCE_DIR}/README.md)
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${shop}/hwtv.${shell}
    COMMAND ${run_hwtv} completions ${shell} > ${shop}/hwtv.${shell}
    DEPENDS hwtv)
endforeach()
add_custom_target(shop DEPENDS
  ${shop}/hwtv.1 ${shop}/hwtv.bash ${shop}/hwtv.zsh ${shop}/hwtv.fish)

install(TARGETS hwtv RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${shop}/hwtv.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${shop}/hwtv.bash RENAME hwtv
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${shop}/hwtv.zsh RENAME _hwtv DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${shop}/hwtv.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
