import { choice, group } from "./kinds.ts";

export const log = group("The log on standard error, one JSON object a line.", {
  level: choice(["debug", "info", "warn", "error", "silent"], {
    default: "info",
    description: "Least severe log line that is written.",
    reload: true,
    flag: "--log-level",
  }),
});
