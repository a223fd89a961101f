import type { TestClient } from "../../../test/support/client.ts";
import type { TestServer } from "../../../test/support/server.ts";
import { phasesOf } from "./phases.ts";
import { type Reading, readAll } from "./reading.ts";
import { TimedPolls } from "./timed-polls.ts";
import { ServerWatch } from "./watch-server.ts";

const pollMilliseconds = 25;

/** What came of a recording's last step, and of reading it. */
export interface Finished extends Reading {
  /** What GETs took until it was completed. */
  readonly polls: TimedPolls;
  readonly watch: ServerWatch;
  /** Seconds, by phase. */
  readonly took: ReadonlyMap<string, number>;
}

/** Waits until a recording is completed, in the phase `finish`, and reads its pages and exports, each a phase. */
export async function finish(
  server: TestServer,
  client: TestClient,
  id: string,
  say: (text: string) => void,
): Promise<Finished> {
  using watch = new ServerWatch(server);
  const { took, timed } = phasesOf(watch, say);
  using polls = new TimedPolls();
  await timed("finish", async () => {
    for (;;) {
      const { status } = await polls.time("finish", () => client.get(id));
      if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
      if (status === "completed") return;
      await Bun.sleep(pollMilliseconds);
    }
  });
  return { polls, watch, took, ...(await readAll(server, client, id, timed)) };
}
