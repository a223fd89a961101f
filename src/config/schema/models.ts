import { group, text } from "./kinds.ts";

export const models = group("Where models are downloaded from.", {
  mirror: text({
    default: "",
    description:
      "Address of a folder that has the official ggml files, for transcribe models pull. Empty takes the publisher's.",
    flag: "--mirror",
    reload: true,
  }),
});
