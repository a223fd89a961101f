# Flags that all native libraries are built with: a smashed stack or an overrun buffer of known size ends the process, tables
# of addresses are read-only once a library is loaded, and no stack is executable. test/native/hardening.test.ts shows it.
set(hardening -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
foreach (flag IN LISTS hardening)
  # nvcc hands on what is behind -Xcompiler.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${flag}>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>")
endforeach()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
