import { group, integer, text } from "./kinds.ts";

export const engine = group("The inference worker.", {
  threads: integer({
    default: 0,
    minimum: 0,
    maximum: 1024,
    description: "CPU threads that all recordings share for inference; 0 takes one per core.",
    reload: false,
  }),
  whisper_model: text({
    default: "",
    description: "Path of the whisper model (ggml). Empty takes the default model that setup installed.",
    reload: false,
  }),
});
