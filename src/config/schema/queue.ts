import { group, integer } from "./kinds.ts";

export const queue = group("How recordings are worked off.", {
  slots: integer({
    default: 5,
    minimum: 1,
    maximum: 64,
    description: "Recordings that are processed at the same time.",
    reload: true,
  }),
});
