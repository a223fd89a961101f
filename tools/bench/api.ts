import { join } from "node:path";
import { ffmpegPath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { waveHeader } from "../../harness/media.ts";
import type { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { probeRecording } from "../../src/media/index.ts";
import { defineCommand } from "../shared/command.ts";
import { medianTime } from "../shared/figures.ts";
import { flag } from "../shared/options.ts";
import { filledServer } from "./fill-rows.ts";

const RECORDINGS = 10_000;
const READS = 300;
const CREATES = 40;

/** Requests of a client, each answered with success. Times are medians in milliseconds. */
export class Requests {
  readonly #client: TestClient;
  readonly #times: number;

  /** @param times number of requests of each list and of each reading */
  constructor({ baseUrl }: TestServer, secret: string, times: number) {
    this.#client = new TestClient(baseUrl, secret);
    this.#times = times;
  }

  list(query: string): Promise<number> {
    return medianTime(this.#times, () => this.send(`?${query}`));
  }

  /** Reads recordings that lie far apart. */
  get(ids: readonly string[], part = ""): Promise<number> {
    return medianTime(this.#times, (index) => this.send(`/${ids[(index * 37) % ids.length]}${part}`));
  }

  create(fields: Readonly<Record<string, string | Bun.BunFile>>): Promise<void> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return this.send("", { method: "POST", body });
  }

  /** @throws {Error} with the response when it is no success */
  async send(path: string, init: RequestInit = {}): Promise<void> {
    const answer = await this.#client.fetch(`/transcriptions${path}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${text}`);
  }
}

export const command = defineCommand({
  name: "scripts/bench api",
  about:
    `Measures how fast the API responds with ${RECORDINGS} recordings in the database. A create starts a probe, which is a ` +
    "process of its own (ffmpeg) and is reported separately.",
  options: { json: flag("print the figures as JSON") },
  async run({ json }) {
    using folder = temporaryDirectory();
    await using stack = new AsyncDisposableStack();
    const { server, filled } = filledServer(RECORDINGS, stack);
    await server.start(false);
    await server.untilReady();
    const requests = new Requests(server, filled.secret, READS);
    const small = join(folder.path, "small.wav");
    // An eighth of a second of silence.
    await Bun.write(small, [waveHeader({ channels: 1, rateHz: 8000, claimedBytes: 2000 }), new Uint8Array(2000)]);
    const read = {
      get_one_ms: await requests.get(filled.ids),
      list_first_page_ms: await requests.list("limit=20"),
      list_hundred_ms: await requests.list("limit=100"),
      list_by_status_ms: await requests.list("limit=20&status=completed,failed"),
      segments_ms: await requests.get(filled.ids, "/segments"),
    };
    const probe = await medianTime(CREATES, () => probeRecording(ffmpegPath, small));
    const create = await medianTime(CREATES, () => requests.create({ file: Bun.file(small) }));
    const results = { ...read, probe_ms: probe, create_beside_probe_ms: create - probe };
    if (json) console.log(JSON.stringify({ recordings: RECORDINGS, ...results }, null, 2));
    else {
      console.log(`medians with ${RECORDINGS} recordings in the database`);
      for (const [name, value] of Object.entries(results)) console.log(`${name.padEnd(26)}${value.toFixed(2)}`);
    }
  },
});
