import { sendAtOnce } from "../../../harness/measured-server.ts";
import type { TestServer } from "../../../harness/server.ts";
import { SAMPLE_RATE } from "../../../src/timeline/index.ts";
import { median } from "../../shared/figures.ts";
import { judge } from "./judge.ts";
import type { KnownTrack } from "./measure.ts";
import { play } from "./play.ts";
import type { LiveProgram } from "./programs.ts";

/** Numbers of sessions next to which a recording is processed. */
const BESIDE = [0, 1, 2];
export const MOST_BESIDE = Math.max(...BESIDE);
/** Time for sessions to be in the middle of speech. */
const LEAD_SECONDS = 4;

/** Processing of a recording next to sessions. */
export interface Waiting {
  readonly sessions: number;
  /** Seconds from the upload until the recording was completed, of each turn. */
  readonly seconds: readonly number[];
  /** Delays of the words that were spoken meanwhile, until they appeared and until they were final. */
  readonly shown: readonly number[];
  readonly final: readonly number[];
}

/**
 * Uploads a recording while 0, 1 and 2 sessions play continuous speech, in turns, so that other load on the machine affects
 * all of them.
 * @param file the recording
 */
export async function measureWaiting(
  { protocol, server }: LiveProgram & { readonly server: TestServer },
  { talk, file, turns }: { readonly talk: KnownTrack; readonly file: string; readonly turns: number },
): Promise<Waiting[]> {
  const all = BESIDE.map((sessions) => {
    return { sessions, seconds: [] as number[], shown: [] as number[], final: [] as number[] };
  });
  for (let turn = 0; turn < turns; turn++) {
    for (const { sessions, seconds, shown, final } of all) {
      const stop = new AbortController();
      const played = Array.from({ length: sessions }, () =>
        play(protocol, talk.samples, { signal: stop.signal, repeats: true }),
      );
      if (sessions > 0) await Promise.race([Bun.sleep(1000 * LEAD_SECONDS), Promise.all(played)]);
      const { seconds: took } = await sendAtOnce(server, [file]);
      seconds.push(took);
      stop.abort();
      for (const { displays } of await Promise.all(played)) {
        const firstRound = displays.filter(({ at }) => at <= talk.samples.length / SAMPLE_RATE);
        const judged = judge(firstRound, talk.spoken, talk.pieces);
        const meanwhile = (delays: typeof judged.shown) =>
          delays
            .filter(({ endSeconds }) => endSeconds >= LEAD_SECONDS && endSeconds <= LEAD_SECONDS + took)
            .map((delay) => delay.seconds);
        shown.push(...meanwhile(judged.shown));
        final.push(...meanwhile(judged.final));
      }
    }
  }
  return all;
}

/** Returns by how much longer a recording takes next to sessions than alone: 0.1 for 10 %; NaN when not measured alone. */
export function lossOf(all: readonly Waiting[], { seconds }: Waiting): number {
  const alone = all.find(({ sessions }) => sessions === 0);
  return median(seconds) / median(alone?.seconds ?? []) - 1;
}
