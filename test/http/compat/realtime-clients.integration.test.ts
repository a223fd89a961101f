import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../../native/build.ts";
import { npmClients, testPackages } from "../../../tools/development/test-packages.ts";
import { installNpmPackages } from "../../../tools/shared/npm.ts";
import { askPython, installPythonPackages } from "../../../tools/shared/python.ts";
import { CommandError } from "../../../tools/shared/run-command.ts";
import { canMakeCertificates } from "../../support/certificate.ts";
import { askModule } from "./npm-packages.ts";
import { RealtimeStage } from "./realtime-stage.ts";

// Each script imports many modules, at the same time as the others.
setDefaultTimeout(180_000);

const what = "tests of live sessions with OpenAI's SDKs";
const schema = Type.Record(Type.String(), Type.Unknown());

/** Returns null where the packages can't be installed. */
async function orSkipped<Packages>(installation: Promise<Packages>): Promise<Packages | null> {
  return await installation.catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: ${what}; they cannot be installed: ${error.message}`);
    return null;
  });
}

const canRun = canMakeCertificates(what);
const [packages, sdk] = canRun
  ? await Promise.all([
      orSkipped(installNpmPackages(defaultCacheRoot(), npmClients)),
      orSkipped(installPythonPackages(defaultCacheRoot(), testPackages.openai)),
    ])
  : [null, null];
const programs = packages === null ? [] : [["Node", packages.node] as const, ["Bun", process.execPath] as const];

const text = "Good day. Hello!";
const usage = { type: "duration", seconds: 1 };
const transcription = "conversation.item.input_audio_transcription";
const item = ["input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"];
const manualTurn = [`${transcription}.delta`, ...item, `${transcription}.delta`, `${transcription}.completed`];
const detectedTurn = ["input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", ...manualTurn];

describe.each(programs)("in %s", (_, program) => {
  test.concurrent("OpenAI's SDK transcribes live sound over both of its WebSockets, with keys and client secrets", async () => {
    if (packages === null) throw new Error("the packages are not installed");
    await using stage = new RealtimeStage();
    const script = join(import.meta.dir, "realtime-node.mjs");
    const environment = { NODE_EXTRA_CA_CERTS: stage.certificatePath };
    const outcomes = await askModule(program, { script, packages, environment }, stage.question, schema);
    const turn = { deltas: text, transcript: text, usage, item_id: "item_t1", logprobs: null };
    const manual = { ...turn, logprobs: 3, types: ["session.created", "session.updated", ...manualTurn] };
    const detected = { ...turn, types: ["session.created", ...detectedTurn] };
    expect(outcomes).toEqual({
      ...{ manual, detected, native: detected },
      secret: { type: "transcription", prefix: "ek_", turns: null },
      ephemeral: { ...manual, types: ["session.created", ...manualTurn] },
      again: { error: expect.stringContaining("401") },
      older: { format: "g711_ulaw", prefix: "ek_" },
      response: expect.objectContaining({ code: "unsupported_event", event_id: "mine", param: "type" }),
      empty: expect.objectContaining({ code: "input_audio_buffer_commit_empty", event_id: "mine" }),
      wrong_key: { error: expect.stringContaining("401") },
    });
  });
});

test.concurrent.if(sdk !== null)("OpenAI's Python SDK transcribes live sound with both of its clients", async () => {
  await using stage = new RealtimeStage();
  const outcomes = await askPython(join(import.meta.dir, "realtime-sdk.py"), sdk ?? "", stage.question, schema);
  const last = { type: `${transcription}.completed`, item_id: "item_t1", transcript: text, usage };
  const diarized = manualTurn.flatMap((type) =>
    type.endsWith(".delta") ? [type, `${transcription}.segment`] : [type],
  );
  expect(outcomes).toMatchObject({
    manual: {
      types: ["session.created", "session.updated", ...diarized],
      ...{ deltas: text, speakers: ["A", "B"], last },
    },
    detected: { types: ["session.created", ...detectedTurn], deltas: text, last },
    response: { code: "unsupported_event", event_id: "mine", param: "type" },
    empty: { code: "input_audio_buffer_commit_empty", event_id: "mine" },
    wrong_key: 401,
    older: { format: "g711_alaw", prefix: "ek_" },
    older_connection: { deltas: text, last },
  });
  expect(Object(outcomes.older_connection).types).toContain("conversation.item.created");
});
