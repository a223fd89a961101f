import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { available, corpusPath, samplePath } from "../../harness/checkout.ts";
import { openDatabaseOf } from "../../src/database/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { Transcript } from "../../src/transcripts/index.ts";
import { Voices } from "../../src/voices/index.ts";
import { tinyLanguage, tinyRecognizer } from "../support/tiny-recognizer.ts";
import { startServerForSuite } from "./suite-server.ts";

const first = corpusPath("dialogue/dlg-01-2spk-FM.flac");
/** A call with a channel for each party. One is the second speaker of the first dialogue, with other sentences. */
const call = corpusPath("dialogue/dlg-11-2spk-stereo-call.wav");
const address = samplePath("jfk.mp3");
const ready = available("e2e tests of voices", first, call, address);

/** The words do not matter. */
describe.if(ready)("voices with the real models of speakers", () => {
  const suite = startServerForSuite("acme", tinyRecognizer());

  test("are proposed for the same person on a channel of a call, and for nobody else", async () => {
    const { server, client } = suite;
    expect((await server.cli("accounts", "set", "acme", "--voices", "on")).exitCode).toBe(0);
    const before = await client.transcribe(first, tinyLanguage);
    const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
    const transcriptOf = (id: string) => {
      const recording = new Recordings(store, Date.now).get(id);
      if (recording === null) throw new Error("the recording is gone");
      return new Transcript(store, recording);
    };
    const voices = new Voices(store);
    const states = (transcript: Transcript) =>
      [...(voices.statesOf(transcript) ?? [])].map(([, state]) =>
        "name" in state ? `${state.kind} ${state.name}` : state.kind,
      );
    const source = transcriptOf(before.ended.id);
    expect(states(source)).toEqual(["new", "new"]);
    source.rename(new Map([[1, "Anna"]]));
    voices.remember(source, 1, { actor: "operator", now: Date.now() });
    const { ended } = await client.transcribe(call, tinyLanguage);
    expect(states(transcriptOf(ended.id))).toEqual(["proposed Anna", "new"]);
    expect(await (await client.fetch(`/transcriptions/${ended.id}/segments`)).text()).not.toContain("Anna");
    store.$client.close();
  }, 240_000);

  test("are not stored for an account that did not opt in, and are all gone after it opts out", async () => {
    const { server } = suite;
    await server.client("cautious").transcribe(address, tinyLanguage);
    const rows = () => {
      using database = new Database(new DataDirectory(server.dataDirectory).databasePath, { readonly: true });
      return ["speaker_voices", "voices", "voice_examples"].map(
        (table) => database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n,
      );
    };
    expect(rows()).toEqual([4, 1, 1]);
    expect((await server.cli("accounts", "set", "acme", "--voices", "off", "--yes")).exitCode).toBe(0);
    expect(rows()).toEqual([0, 0, 0]);
    expect(server.log.some((line) => JSON.stringify(line).includes("Anna"))).toBe(false);
  }, 240_000);
});
