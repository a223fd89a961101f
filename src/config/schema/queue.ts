import { group, integer } from "./kinds.ts";

export const queue = group("How recordings are worked off.", {
  slots: integer({
    default: 5,
    minimum: 1,
    maximum: 64,
    description:
      "Recordings that are processed at the same time. With at least two, no account holds all while another's recording waits.",
    reload: true,
  }),
});
