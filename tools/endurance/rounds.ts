import { join } from "node:path";
import { bodyOf, type TestClient } from "../../harness/client.ts";
import { transcriptionContract } from "../../harness/contract.ts";
import type { SmallRecording } from "./small-recordings.ts";

/** The results of one round. */
export interface Outcome {
  readonly ids: ReadonlyMap<SmallRecording, string>;
  readonly statuses: ReadonlyMap<SmallRecording, string>;
  /** The response bodies with the segments. */
  readonly segments: ReadonlyMap<SmallRecording, string>;
}

interface RoundOptions {
  readonly client: () => TestClient;
  readonly recordings: readonly SmallRecording[];
  /** Folder of the recordings. */
  readonly directory: string;
  /** Origin of the recordings that are sent as links. */
  readonly links: string;
  /** Whether the recordings are sent with their language. */
  readonly withLanguage: boolean;
}

/** Sends small recordings at the same time with clients that retry, and waits for their results. */
export class Round {
  readonly #options: RoundOptions;
  /** Ids of all recordings that the server has returned. */
  readonly entered = new Set<string>();

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /** @param disturb runs at the same time */
  async run(disturb: (hasEnded: () => boolean) => Promise<void> = async () => {}): Promise<Outcome> {
    const { recordings, client } = this.#options;
    let open = recordings.length;
    const [ids, statuses, segments] = [0, 0, 0].map(() => new Map<SmallRecording, string>());
    const one = async (name: SmallRecording) => {
      const key = crypto.randomUUID();
      const { id } = await retry(() => this.#create(name, key));
      this.entered.add(id);
      ids?.set(name, id);
      const ended = await retry(async () => {
        const { status } = await client().get(id);
        if (status === "queued" || status === "processing") throw new Error("the recording is still open");
        return status;
      });
      statuses?.set(name, ended);
      if (ended === "completed") segments?.set(name, await retry(() => this.#segments(id)));
      open -= 1;
    };
    await Promise.all([...recordings.map(one), disturb(() => open === 0)]);
    return { ids: ids ?? new Map(), statuses: statuses ?? new Map(), segments: segments ?? new Map() };
  }

  async #create(name: SmallRecording, key: string) {
    const { client, directory, links, withLanguage } = this.#options;
    const body = new FormData();
    if (name === "linked.mp3") body.set("url", `${links}/${name}`);
    else body.set("file", Bun.file(join(directory, name)), name);
    if (withLanguage) body.set("language", "en");
    const headers = { "Idempotency-Key": key };
    const response = await client().fetch("/transcriptions", { method: "POST", body, headers });
    return bodyOf(response, 201, transcriptionContract);
  }

  async #segments(id: string): Promise<string> {
    const response = await this.#options.client().fetch(`/transcriptions/${id}/segments?limit=1000`);
    if (!response.ok) throw new Error(`${response.status}`);
    return response.text();
  }
}

/** Retries until the attempt succeeds, because a killed server restarts within a moment. */
async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 600_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await Bun.sleep(200);
    }
  }
}

/** Serves the recordings that are sent as links. */
export function linkHost(directory: string) {
  const host = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => new Response(Bun.file(join(directory, new URL(request.url).pathname.slice(1)))),
  });
  return { origin: `http://127.0.0.1:${host.port}`, [Symbol.asyncDispose]: () => host.stop(true) };
}
