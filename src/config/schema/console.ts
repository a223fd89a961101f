import { flag, group } from "./kinds.ts";

export const console = group("The page for people, see console.md.", {
  enabled: flag({
    default: false,
    description:
      "Whether the server shows the console under /console, for operators who sign in: by a link that `transcribe console` prints, or by a password.",
    reload: true,
  }),
});
