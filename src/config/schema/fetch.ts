import { duration, flag, group, list } from "./kinds.ts";

export const fetch = group("Recordings that are sent as a link.", {
  enabled: flag({ default: true, description: "Whether a recording may be sent as a link.", reload: true }),
  allow: list({
    default: [],
    description:
      "Hosts (media.example.org, *.example.org) and networks (10.1.0.0/16) that links may lead to although their addresses are not public.",
    reload: true,
  }),
  timeout_seconds: duration("seconds", {
    default: 3600,
    minimum: 1,
    maximum: 86_400,
    description:
      "Longest time that fetching a link may take, in seconds. A link must also bring 16 KiB/s on average after its first minute.",
    reload: true,
  }),
  stall_seconds: duration("seconds", {
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: "Longest time that a link may send nothing, in seconds.",
    reload: true,
  }),
});
