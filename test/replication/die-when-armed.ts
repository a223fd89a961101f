// Loaded before a server: at SIGUSR2 it begins to count the writes of its databases, and ends itself with SIGKILL before
// the one whose number is in the file that DIE_AT_STEP names.
import { readFileSync } from "node:fs";
import { beforeEachWrite, countdown } from "../support/die-at-step.ts";

let die = () => {};
beforeEachWrite(() => die());
process.on("SIGUSR2", () => {
  die = countdown(Number(readFileSync(process.env.DIE_AT_STEP ?? "", "utf8")));
});
