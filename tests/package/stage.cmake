file(REMOVE_RECURSE ${stage} ${stage}.first)
foreach(component IN ITEMS runtime development)
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --prefix ${stage}.first --component ${component}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(RENAME ${stage}.first ${stage})
