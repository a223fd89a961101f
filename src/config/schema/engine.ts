import { choice, duration, group, integer, nameOrPath, path } from "./kinds.ts";

export const engine = group("The inference worker.", {
  threads: integer({
    default: 0,
    minimum: 0,
    maximum: 1024,
    description: "CPU threads that all recordings share for inference; 0 takes one per core.",
    reload: false,
  }),
  device: choice(["auto", "cpu", "vulkan", "cuda"], {
    default: "auto",
    description:
      "What whisper computes on. `auto` takes a GPU where one hears the same words as the CPU, and sooner, with CUDA before Vulkan; `vulkan` and `cuda` take that one even if it is slower; whatever fails, the CPU takes its place. Where it is not `cpu`, the GPU does the models that find speech and tell speakers apart, too, as far as it gives the same as the CPU and sooner.",
    reload: false,
  }),
  cuda_library: path({
    default: "",
    description:
      "ggml's CUDA backend, a libggml-cuda.so that `scripts/build --cuda` made of the same release: too large to be part of the program. Empty: there is none.",
    reload: false,
  }),
  whisper_model: nameOrPath({
    default: "",
    description:
      "The speech model: an id of `transcribe models list`, or the path of a ggml file. Empty takes what `transcribe models use` chose, else the built-in one.",
    reload: false,
  }),
  idle_minutes: duration("minutes", {
    default: 0,
    minimum: 0,
    maximum: 525_600,
    description:
      "Minutes without work after which the inference worker is ended and the memory of its models is free; the next recording has it started again. 0 keeps it.",
    reload: true,
  }),
});
