import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { TestServer } from "../../harness/server.ts";
import type { Outcome } from "./rounds.ts";
import type { Row } from "./row.ts";
import type { SmallRecording } from "./small-recordings.ts";

/** Completed parts of a recording by step and number, with their counts. */
type Parts = ReadonlyMap<string, number>;

/** Compares rounds that were disturbed by kills with one that was not. */
export class RoundComparison {
  readonly #server: TestServer;
  readonly #undisturbed: Outcome;
  readonly #expectedParts: ReadonlyMap<SmallRecording, Parts>;
  readonly #expectedCharges: ReadonlyMap<SmallRecording, number>;
  readonly #otherSegments: string[] = [];
  readonly #otherCharges: string[] = [];
  readonly #faults = { recordings: 0, notCompleted: 0, again: 0 };

  private constructor(server: TestServer, undisturbed: Outcome) {
    this.#server = server;
    this.#undisturbed = undisturbed;
    this.#expectedParts = countParts(server, undisturbed.ids);
    this.#expectedCharges = charges(server, undisturbed.ids);
  }

  /** @param server that has processed the undisturbed round and will process the other ones */
  static async with(server: TestServer, undisturbed: Outcome): Promise<RoundComparison> {
    // Clients can see the completion before the log is read. A part missing from these counts would be reported as
    // repeated.
    const isLogged = (id: string) =>
      server.log.some(({ event, recordingId }) => recordingId === id && /^recording\.(completed|failed)$/.test(event));
    await server.until(() => [...undisturbed.ids.values()].every(isLogged));
    return new RoundComparison(server, undisturbed);
  }

  /** Compares the round that has just ended. */
  add(disturbed: Outcome): void {
    const parts = countParts(this.#server, disturbed.ids);
    const charged = charges(this.#server, disturbed.ids);
    for (const name of disturbed.ids.keys()) {
      this.#faults.recordings += 1;
      if (disturbed.statuses.get(name) !== "completed") this.#faults.notCompleted += 1;
      else {
        const texts = [this.#undisturbed, disturbed].map(({ segments }) => segments.get(name) ?? "");
        const difference = firstDifference(texts[0] ?? "", texts[1] ?? "");
        if (difference !== null) this.#otherSegments.push(`${name}: ${difference}`);
      }
      for (const [part, count] of parts.get(name) ?? []) {
        this.#faults.again += Math.max(0, count - (this.#expectedParts.get(name)?.get(part) ?? 0));
      }
      const [seconds, expected] = [charged.get(name), this.#expectedCharges.get(name)];
      if (seconds !== expected) this.#otherCharges.push(`${name}: ${expected} s became ${seconds} s`);
    }
  }

  /** Returns the rows about the recordings. @param over the kills */
  rows(over: string): Row[] {
    const { recordings, notCompleted, again } = this.#faults;
    const none = noneRow(over);
    const { ids, segments } = this.#undisturbed;
    return [
      {
        ...{ measured: "disturbed recordings", value: String(recordings), over },
        ...{ target: `${ids.size} or more`, ok: recordings >= ids.size },
      },
      none("undisturbed and not completed", ids.size - segments.size),
      none("not completed", notCompleted),
      none("completed with other segments than without kills", this.#otherSegments.length, this.#otherSegments),
      none("stored parts that were computed again", again),
      none("charged for another length than without kills", this.#otherCharges.length, this.#otherCharges),
    ];
  }
}

/** Returns a function that makes rows whose value must be 0. @param over the kills */
export function noneRow(over: string) {
  return (measured: string, value: number, found: readonly string[] = []): Row => ({
    ...{ measured, value: String(value), over: [over, ...found].join("; ") },
    ...{ target: "0", ok: value === 0 },
  });
}

/** Returns the surroundings of the first difference between two texts; null when they are equal. */
function firstDifference(one: string, other: string): string | null {
  if (one === other) return null;
  let at = 0;
  while (one[at] === other[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 80), at + 40);
  return `${around(one)} became ${around(other)}`;
}

/**
 * Counts the completed parts of each recording in the log. A part whose process was killed before it was logged is not
 * counted.
 */
function countParts(server: TestServer, ids: ReadonlyMap<SmallRecording, string>) {
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const counts = new Map<SmallRecording, Map<string, number>>();
  for (const { event, recordingId, step, part } of server.log) {
    const name = names.get(String(recordingId));
    if (event !== "recording.part_finished" || name === undefined) continue;
    const parts = counts.get(name) ?? new Map<string, number>();
    counts.set(name, parts.set(`${step} ${part}`, (parts.get(`${step} ${part}`) ?? 0) + 1));
  }
  return counts;
}

/** Returns the seconds of audio that the account was charged for each recording. */
function charges(server: TestServer, ids: ReadonlyMap<SmallRecording, string>): Map<SmallRecording, number> {
  using database = new Database(join(server.dataDirectory, "transcribe.db"), { readonly: true });
  const rows = database.query<{ seconds: number | null }, [string]>(
    "SELECT sum(seconds) AS seconds FROM audio_usage WHERE recording_id = ?",
  );
  return new Map([...ids].map(([name, id]) => [name, rows.get(id)?.seconds ?? 0]));
}
