# In the place of CMake's own: the headers and the loader's name come from the project that is above, the compiler of
# shaders from its caller.
if (NOT TARGET Vulkan::Vulkan OR NOT EXISTS "${Vulkan_GLSLC_EXECUTABLE}")
  message(FATAL_ERROR "Vulkan_GLSLC_EXECUTABLE must name glslc; run native/build.ts, which sets it")
endif()
set(Vulkan_FOUND TRUE)
set(Vulkan_glslc_FOUND TRUE)
