import { existsSync, readFileSync, rmSync } from "node:fs";
import { areVerdicts } from "../../../speech/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, ok, skipped, warning } from "../check.ts";

export const cpuVerdicts: Check = {
  id: "cpu.verdicts",
  title: "Kept self-tests",
  explanation:
    "What the self-tests of the CPU variants found is kept in state/devices.json of the data directory, so that the server starts at once the next time. A damaged file does no harm but costs some seconds at each start.",
  run({ data, paths }) {
    if (data !== "there" || !existsSync(paths.verdicts)) return skipped("nothing is kept yet");
    let text: string;
    try {
      text = readFileSync(paths.verdicts, "utf8");
    } catch (error) {
      return warning("what the self-tests found can't be read", {
        detail: [messageOf(error)],
        advice: "Run this as the user that the server runs as.",
      });
    }
    if (areVerdicts(text)) return ok("kept for the next start");
    return warning("the file of what the self-tests found is damaged; each start tests again", {
      advice: "`transcribe doctor --fix` removes it; the next start makes a new one.",
      mending: { what: `Remove the damaged ${paths.verdicts}`, apply: () => rmSync(paths.verdicts) },
    });
  },
};
