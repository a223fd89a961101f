# Identity that a separately loaded backend and the program must share: the digest of the patched headers that ggml's
# libraries are compiled with. Each side computes it from its own copy.
function(ggml_identity directory into)
  file(GLOB headers RELATIVE "${directory}" CONFIGURE_DEPENDS "${directory}/include/*.h" "${directory}/src/*.h")
  list(SORT headers)
  set(content "")
  foreach (header IN LISTS headers)
    file(SHA256 "${directory}/${header}" digest)
    string(APPEND content "${header} ${digest}\n")
  endforeach()
  string(SHA256 identity "${content}")
  set(${into} "${identity}" PARENT_SCOPE)
endfunction()
