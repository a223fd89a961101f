import { flag, group } from "./kinds.ts";

export const metrics = group("What is told to Prometheus.", {
  remote: flag({
    default: false,
    description: "Whether other machines may read /metrics; by default this machine alone may.",
    reload: true,
  }),
});
