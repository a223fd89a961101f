import { expect, test } from "bun:test";
import { finishRemovals, removeAccount } from "../../src/library/index.ts";
import { liveTextOf } from "../../src/live/index.ts";
import { RecordedStatements, readsBeforeWrites, slowSteps } from "../support/recorded-statements.ts";
import { LiveServer } from "./live-server.ts";
import { sound } from "./scripted-engine.ts";

const growing = ["live_sessions", "live_segments", "recordings", "creates", "audio_usage", "speaker_names"];

test("no statement of live sessions scans or sorts all of them, or reads before it writes without the lock", async () => {
  using recorded = new RecordedStatements();
  await using server = new LiveServer();
  recorded.statements.clear();
  const { session, events } = server.open();
  session.write(sound([2000, 3], [0, 1], [8000, 3], [0, 1]));
  await events.received("turnCompleted", 2);
  session.nameSpeaker("S1", "Anna");
  session.update({ prompt: "Aachen" });
  server.advance(10);
  server.restartAfterCrash();
  server.live.resume(server.sender(), session.id, 1, () => {}).session.detach();
  server.advance(121);
  while (server.filesIn("live").length > 0) await Bun.sleep(0);
  const [id = ""] = server.queued;
  server.recordings.claim(id);
  server.recordings.complete(id, [{ index: 0, startSeconds: 0, endSeconds: 3, speaker: 0, text: "a", words: [] }]);
  server.events.deliver();
  expect(liveTextOf(server.store, id)?.segments.length).toBeGreaterThan(0);
  server.recordings.delete(id);
  await finishRemovals(server);
  server.open().session.write(sound([2000, 1]));
  const services = { store: server.store, recordings: server.recordings, dataDirectory: server.dataDirectory };
  await removeAccount(
    { ...services, now: () => server.time },
    { kind: "operator", actor: "operator" },
    server.account(),
  );
  const statements = [...recorded.statements].filter((sql) => /^\s*(select|insert|update|delete)\b/i.test(sql));
  expect(statements.filter((sql) => sql.includes("live_")).length).toBeGreaterThan(15);
  const slow = statements
    .map((sql) => ({ sql, steps: slowSteps(server.store.$client, sql, growing) }))
    .filter(({ steps }) => steps.length > 0);
  expect(slow).toEqual([]);
  expect([...new Set(recorded.transactions.flatMap(readsBeforeWrites))]).toEqual([]);
});
