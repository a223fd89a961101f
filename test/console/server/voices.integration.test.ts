import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { bodyOf } from "../../../harness/client.ts";
import { readAudit } from "../../../src/accounts/index.ts";
import { accountPageSchema, recordingSchema, voiceListSchema } from "../../../src/console/contract/index.ts";
import { storeSpeakerVoices, switchVoices } from "../../../src/voices/index.ts";
import { type Browser, ConsoleServer, said } from "../../support/console.ts";
import { voiceOf } from "../../support/voices.ts";

setDefaultTimeout(60_000);

/** A console with an account that remembers voices. */
async function consoleWithVoices() {
  const server = new ConsoleServer();
  const { api } = server;
  const account = api.account("first");
  await switchVoices(api.store, account, api.operator(), true);
  const operator = await server.operator();
  return {
    server,
    account,
    operator,
    /** Enters a completed recording of two speakers. @returns its id */
    enter(embeddings: readonly Float32Array[]): string {
      const id = api.enterProcessing(account.id);
      const voices = embeddings.map((embedding, speaker) => ({ speaker, seconds: 20, embedding }));
      api.recordings.complete(id, ["Hello.", "Yes?"].map(said), (writer) => storeSpeakerVoices(writer, id, voices));
      return id;
    },
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}

const voicesIn = async (operator: Browser, id: string) =>
  (await operator.read(`/recordings/${id}`, recordingSchema)).speakers.map(({ voice }) => voice);

describe("the voices of a recording's speakers", () => {
  test("are remembered, proposed and confirmed, and reach no export and no response of the API before", async () => {
    using made = await consoleWithVoices();
    const { server, operator, enter } = made;
    const source = enter([voiceOf(1), voiceOf(2)]);
    await operator.send("PUT", `/recordings/${source}/speakers`, { names: { 0: "Anna" } });
    const remembered = await operator.send("POST", `/recordings/${source}/voices`, { speaker: "A" });
    const { speakers } = await bodyOf(remembered, 200, recordingSchema);
    expect(speakers.map(({ voice }) => voice)).toEqual([
      { state: "remembered", id: expect.any(String), name: "Anna" },
      { state: "new" },
    ]);
    const later = enter([voiceOf(3), voiceOf(1, 2)]);
    const [, proposal] = await voicesIn(operator, later);
    const id = proposal !== undefined && proposal !== null && "id" in proposal ? proposal.id : "";
    expect(proposal).toEqual({ state: "proposed", id, name: "Anna" });
    const exported = async () => (await operator.data(`/recordings/${later}/exports/txt`)).text();
    const served = async () => (await server.api.client("first").fetch(`/transcriptions/${later}/segments`)).text();
    expect([await exported(), await served()].join()).not.toContain("Anna");
    const answer = { speaker: "B", voice: id, confirmed: true };
    const confirmed = await operator.send("POST", `/recordings/${later}/proposals`, answer);
    expect((await bodyOf(confirmed, 200, recordingSchema)).speakers[1]).toMatchObject({
      name: "Anna",
      voice: { state: "remembered" },
    });
    expect(await exported()).toContain("Anna");
    expect(await served()).not.toContain("Anna");
    expect(await operator.refusal(operator.send("POST", `/recordings/${later}/proposals`, answer), 409)).toBe(
      "not_ready",
    );
    const audited = readAudit(server.api.store, 9).filter(({ action }) => action.startsWith("voices."));
    expect(audited.map(({ action }) => action)).toEqual(["voices.confirm", "voices.remember", "voices.enable"]);
    expect(JSON.stringify(audited)).not.toContain("Anna");
    expect(JSON.stringify(server.api.log)).not.toContain("Anna");
  });

  test("are not proposed again for a recording after a rejection", async () => {
    using made = await consoleWithVoices();
    const { operator, enter } = made;
    const source = enter([voiceOf(1)]);
    await operator.send("PUT", `/recordings/${source}/speakers`, { names: { 0: "Anna" } });
    await operator.send("POST", `/recordings/${source}/voices`, { speaker: "A" });
    const later = enter([voiceOf(1, 2)]);
    const [proposal] = await voicesIn(operator, later);
    const id = proposal !== undefined && proposal !== null && "id" in proposal ? proposal.id : "";
    const answer = { speaker: "A", voice: id, confirmed: false };
    const rejected = await bodyOf(
      await operator.send("POST", `/recordings/${later}/proposals`, answer),
      200,
      recordingSchema,
    );
    expect(rejected.speakers[0]).toMatchObject({ name: null, voice: { state: "new" } });
  });

  const wrong: readonly (readonly [string, string, unknown, number])[] = [
    ["a speaker without a name", "voices", { speaker: "A" }, 409],
    ["a speaker that the recording does not have", "voices", { speaker: "Z" }, 409],
    ["no speaker", "voices", {}, 422],
    ["a letter that is none", "voices", { speaker: "a" }, 422],
    ["an unknown voice", "proposals", { speaker: "A", voice: "x", confirmed: true }, 409],
    ["an answer that is none", "proposals", { speaker: "A", voice: "x", confirmed: "yes" }, 422],
    ["more than an answer", "proposals", { speaker: "A", voice: "x", confirmed: true, name: "Eve" }, 422],
  ];
  test.each(wrong)("are refused with a message for %s", async (_, path, body, status) => {
    using made = await consoleWithVoices();
    const id = made.enter([voiceOf(1)]);
    await made.operator.refusal(made.operator.send("POST", `/recordings/${id}/${path}`, body), status);
  });

  test("do not exist in an account that did not opt in", async () => {
    using server = new ConsoleServer();
    const id = await server.enterSaid("first", ["Hello."]);
    const operator = await server.operator();
    expect(await voicesIn(operator, id)).toEqual([null]);
    expect(await operator.refusal(operator.send("POST", `/recordings/${id}/voices`, { speaker: "A" }), 409)).toBe(
      "not_ready",
    );
    const { accounts } = await operator.read("/accounts", accountPageSchema);
    expect(accounts.map(({ voices }) => voices)).toEqual([null]);
  });
});

describe("the voices of an account", () => {
  test("are listed, renamed and deleted", async () => {
    using made = await consoleWithVoices();
    const { operator, account, enter } = made;
    for (const [person, name] of ["Anna", "Bob"].entries()) {
      const id = enter([voiceOf(person + 1)]);
      await operator.send("PUT", `/recordings/${id}/speakers`, { names: { 0: name } });
      await operator.send("POST", `/recordings/${id}/voices`, { speaker: "A" });
    }
    const list = await operator.read(`/accounts/${account.id}/voices`, voiceListSchema);
    expect(list).toMatchObject({ account: { name: "first" }, enabled: true, limit: 100 });
    expect(list.voices).toMatchObject([
      { name: "Anna", recordings: 1, seconds: 20, usable: true, created_by: expect.stringContaining("(console)") },
      { name: "Bob" },
    ]);
    const [anna = "", bob = ""] = list.voices.map(({ id }) => id);
    const rename = (name: string) => operator.send("PUT", `/voices/${anna}`, { name });
    expect((await bodyOf(await rename("Anna Meier"), 200, voiceListSchema)).voices[0]?.name).toBe("Anna Meier");
    for (const name of ["Bob", " ", "", "x".repeat(101)]) {
      expect(await operator.refusal(rename(name), 422)).toBe("validation_failed");
    }
    const left = await bodyOf(await operator.send("DELETE", `/voices/${bob}`), 200, voiceListSchema);
    expect(left.voices.map(({ name }) => name)).toEqual(["Anna Meier"]);
    expect(await operator.refusal(operator.send("DELETE", `/voices/${bob}`), 404)).toBe("not_found");
    const { accounts } = await operator.read("/accounts", accountPageSchema);
    expect(accounts.map(({ voices }) => voices)).toEqual([1]);
  });

  test("are not shown to a browser without a session, nor changed by another site", async () => {
    using made = await consoleWithVoices();
    const { server, operator, account } = made;
    const stranger = server.stranger();
    expect(await stranger.refusal(stranger.data(`/accounts/${account.id}/voices`), 401)).toBe("not_signed_in");
    const foreign = operator.data("/voices/x", { method: "DELETE", headers: { "Sec-Fetch-Site": "cross-site" } });
    expect(await operator.refusal(foreign, 403)).toBe("not_from_here");
    expect(await operator.refusal(operator.data("/accounts/unknown/voices"), 404)).toBe("not_found");
  });
});
