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
      "Device of the speech model. `auto` takes a GPU that recognizes the same words as the CPU, and faster; CUDA comes before Vulkan. `vulkan` and `cuda` take that one even if it is slower. The CPU is the fallback for whatever fails. Unless this is `cpu`, the GPU also computes the models of speech detection and speaker diarization that give the same result there, and faster.",
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
