/**
 * The source of whisper.cpp and ggml: an npm package, so that a machine needs nothing but package registries. It is the newest
 * one with a complete tree, shaders of ggml-vulkan and kernels of ggml-cuda included. Another one is another entry here and in
 * package.json; native/README.md describes the update.
 */
export const UPSTREAM = {
  package: "nodejs-whisper",
  packageVersion: "0.3.1",
  /** Of the package's archive, as bun.lock has it; the package manager checks it. */
  integrity: "sha512-ceoilUVraRuR5FnNyXpGQT2auAR48Oc3AQBEmkXnVpSn9iN6yVRzQBFCqVTGWbk6Wdi95NhvwXNzFvuR7erLWw==",
  /** Place of whisper.cpp's tree in the package. */
  tree: "cpp/whisper.cpp",
  whisperCpp: "1.9.1",
  ggml: "0.15.1",
} as const;
