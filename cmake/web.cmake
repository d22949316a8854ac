# The page of `culprit serve` and `export --to html` (web/): npm's packages by the lock file, one
# script and one style, and these as a C++ source. A build without Node or without the packages is
# whole but for these two commands, which say what is missing.
find_program(NODE node nodejs)
find_program(NPM npm)
set(web_assets ${CMAKE_BINARY_DIR}/web/assets.cc)
file(GLOB web_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*.ts
     ${CMAKE_SOURCE_DIR}/web/src/*.tsx ${CMAKE_SOURCE_DIR}/web/src/*.css)
add_custom_command(
  OUTPUT ${web_assets}
  COMMAND ${CMAKE_SOURCE_DIR}/web/build.sh ${web_assets} "${NODE}" "${NPM}"
  DEPENDS ${web_sources} ${CMAKE_SOURCE_DIR}/web/build.sh ${CMAKE_SOURCE_DIR}/web/build.mjs
          ${CMAKE_SOURCE_DIR}/web/package.json ${CMAKE_SOURCE_DIR}/web/package-lock.json
  COMMENT "Bundling the web page"
  VERBATIM)
target_sources(culprit_documents PRIVATE ${web_assets})
set_source_files_properties(${web_assets} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
