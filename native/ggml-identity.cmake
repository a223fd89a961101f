# What a backend that is loaded from elsewhere has to have in common with the program: the headers that ggml's libraries are
# compiled with, as patched. Both sides take the digest of their own copy.
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
