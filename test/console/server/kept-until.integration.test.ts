import { expect, test } from "bun:test";
import { changeAccount, requireAccount } from "../../../src/accounts/index.ts";
import { timestamp } from "../../../src/api-contract/index.ts";
import { recordingSchema } from "../../../src/console/contract/index.ts";
import { ConsoleServer } from "../../support/console.ts";

const DAY = 86_400_000;

test("a recording shows until when its audio and itself are kept, by the retention of its account", async () => {
  using server = new ConsoleServer();
  const { api } = server;
  api.advance(0);
  const id = await server.enterSaid("acme", ["hello"]);
  const endedAt = api.now();
  const shown = async (recording = id) => {
    // The session of the day before has ended.
    const operator = await server.operator();
    const { kept_until } = await operator.read(`/recordings/${recording}`, recordingSchema);
    return kept_until;
  };
  const set = (audioDays: number | null, completedDays: number | null) =>
    changeAccount(api.store, requireAccount(api.store, "acme"), api.operator(), { audioDays, completedDays });
  const after = (days: number) => timestamp(endedAt + days * DAY);
  expect(await shown()).toEqual({ audio: after(7), recording: null });
  set(2, 30);
  expect(await shown()).toEqual({ audio: after(2), recording: after(30) });
  api.advance(3 * DAY);
  expect(await shown()).toEqual({ audio: null, recording: after(30) });
  api.recordings.setHold(id, true);
  expect(await shown()).toEqual({ audio: null, recording: null });
  expect(await shown(api.enterQueued(api.account("acme").id))).toEqual({ audio: null, recording: null });
});
