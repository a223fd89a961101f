/** NVIDIA's Parakeet TDT, computed by parakeet.cpp through the native addon. */
export { parakeetFamily } from "./family.ts";
