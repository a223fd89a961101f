import { diarizationErrors, errorRates } from "../../harness/der.ts";
import { type RoomMeeting, type RoomPart, roomMeetings, roomParts } from "../corpus/index.ts";
import { circumstances } from "../shared/circumstances.ts";
import { defineCommand } from "../shared/command.ts";
import { percent, total } from "../shared/figures.ts";
import { flag, UsageError } from "../shared/options.ts";
import { showTable } from "./report.ts";
import { diarizationTurns, type SpeakerResult, speakerResult, summarize } from "./speakers.ts";

/** A meeting with its result. */
interface Result extends SpeakerResult, Pick<RoomMeeting, "tempo"> {}

export const command = defineCommand({
  name: "scripts/evaluate rooms",
  about:
    "Measures the diarization alone on meetings in simulated rooms. A PART is tuned, checked, quiet or sealed; without " +
    "one, the first two are measured. The quiet part has the people of the checked one, and little noise. Measure the " +
    "sealed part once for each release, and change nothing because of it.",
  names: "PART",
  options: {
    details: flag("print a line for each meeting before the table"),
    write: flag("store the tables in docs/quality.md, each part in its own place"),
  },
  async run({ details, write }, names) {
    const parts = names.length === 0 ? (["tuned", "checked"] as const) : names.map(partOf);
    const when = await circumstances(Date.now());
    for (const part of parts) {
      const results = await measure(part);
      for (const { path, speakers, found, errors } of details ? results : []) {
        const rates = Object.values(errors === null ? {} : errorRates(errors)).map((rate) => percent(rate));
        console.log(`${path}: ${speakers} people, ${found} found; DER, false, missed, confused: ${rates.join(", ")}`);
      }
      const head = ["meetings", "DER", "false", "missed", "confused", "numbers right", "off"];
      showTable({ head, lines: rowsOf(part, results) }, when, write ? `scripts/evaluate rooms ${part}` : null);
    }
  },
});

function partOf(name: string): RoomPart {
  if (Object.hasOwn(roomParts, name)) return name as RoomPart;
  throw new UsageError(`there is no part ${name}; the parts are ${Object.keys(roomParts).join(", ")}`);
}

async function measure(part: RoomPart): Promise<Result[]> {
  const meetings = await roomMeetings(part);
  const diarized = await diarizationTurns(meetings);
  return diarized.map((found, index) => {
    const tempo = meetings[index]?.tempo ?? "slow";
    return { ...speakerResult(found, diarizationErrors), tempo };
  });
}

function rowsOf(part: RoomPart, results: readonly Result[]): string[][] {
  const row = (name: string, some: readonly Result[]) => {
    const { errorRate, falseAlarm, missed, confusion, countsRight } = summarize(some);
    const surplus = total(some, ({ speakers, found }) => Math.max(0, found - speakers));
    const missing = total(some, ({ speakers, found }) => Math.max(0, speakers - found));
    return [
      name,
      ...[errorRate, falseAlarm, missed, confusion].map((rate) => percent(rate)),
      `${countsRight} of ${some.length}`,
      `${surplus} too many, ${missing} too few`,
    ];
  };
  const tempos = [...Map.groupBy(results, ({ tempo }) => tempo)];
  return [row(part, results), ...tempos.map(([tempo, some]) => row(`${part}, ${tempo} exchanges`, some))];
}
