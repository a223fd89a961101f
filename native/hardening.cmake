# Flags of all native libraries. A smashed stack or an overrun buffer of known size ends the process, address tables are
# read-only once a library is loaded, and no stack is executable. test/native/hardening.test.ts checks them.
set(hardening -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
foreach (flag IN LISTS hardening)
  # nvcc passes on arguments after -Xcompiler.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${flag}>" "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${flag}>")
endforeach()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
