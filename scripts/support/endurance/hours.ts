import { join } from "node:path";
import { randomNumbers } from "../../../test/support/random-numbers.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { makeHoursOfTalk } from "./hours-of-talk.ts";
import { hoursRows } from "./hours-rows.ts";
import { processHours } from "./process-hours.ts";
import type { PartOptions, Row } from "./row.ts";

const shortSeconds = 600;
const hourSeconds = 3600;

/** hours: a recording of two hours through everything, beside one of ten minutes and one of an hour. */
export function hours(options: PartOptions): Promise<Row[]> {
  return compare(options, 2, true);
}

/** eighteen: one of 18 hours; whisper's part is done by the words that are known, all else by the server and its worker. */
export function eighteen(options: PartOptions): Promise<Row[]> {
  return compare(options, 18, false);
}

async function compare(options: PartOptions, usualHours: number, withWhisper: boolean): Promise<Row[]> {
  const longSeconds = (options.hours ?? usualHours) * 3600;
  const run = async (seconds: number) => {
    using folder = temporaryDirectory();
    const say = (text: string) => options.say(`${(seconds / 3600).toFixed(2)} h: ${text}`);
    say("make");
    const talk = await makeHoursOfTalk(join(folder.path, "talk.wav"), seconds, randomNumbers(options.seed));
    return { talk, done: await processHours(talk, withWhisper, say) };
  };
  const short = await run(shortSeconds);
  const hour = longSeconds > hourSeconds ? await run(hourSeconds) : null;
  const long = await run(longSeconds);
  return hoursRows(long.talk, long.done, short.done, hour?.done ?? null);
}
