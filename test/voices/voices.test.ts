import { describe, expect, test } from "bun:test";
import { readAudit, requireAccount } from "../../src/accounts/index.ts";
import { MAX_VOICES, switchVoices, VoicesError } from "../../src/voices/index.ts";
import { by, VoiceAccount, voiceOf } from "../support/voices.ts";

/** Returns why a call was refused. */
function refusalOf(call: () => void): string | null {
  try {
    call();
    return null;
  } catch (error) {
    if (error instanceof VoicesError) return error.refusal;
    throw error;
  }
}

describe("an account that does not remember voices", () => {
  test("stores no embedding, proposes nothing and remembers nobody", async () => {
    const account = await VoiceAccount.create({ isOn: false });
    const transcript = account.record([voiceOf(1)]);
    expect(account.rows("speaker_voices")).toBe(0);
    expect(account.states(transcript)).toBeNull();
    expect(refusalOf(() => account.remember(transcript, 0, "Anna"))).toBe("disabled");
    expect(account.voices.list(account.id)).toEqual([]);
  });

  test("deletes all of its voices when it stops remembering, and those of no other account", async () => {
    const account = await VoiceAccount.create();
    const other = await VoiceAccount.create({ store: account.store, name: "other" });
    for (const each of [account, other]) each.remember(each.record([voiceOf(1), voiceOf(2)]), 0, "Anna");
    const transcript = account.record([voiceOf(1, 2)]);
    await switchVoices(account.store, requireAccount(account.store, "acme"), by, false);
    expect(account.voices.list(account.id)).toEqual([]);
    expect(account.states(transcript)).toBeNull();
    const left = ["voices", "voice_examples", "speaker_voices"].map((table) => account.rows(table));
    expect(left).toEqual([1, 1, 2]);
    expect(other.voices.list(other.id)).toHaveLength(1);
    await switchVoices(account.store, requireAccount(account.store, "acme"), by, true);
    expect(account.states(transcript)).toEqual(["unclear"]);
    const audited = readAudit(account.store, 3).map(({ action }) => action);
    expect(audited).toEqual(["voices.enable", "voices.disable", "voices.remember"]);
  });

  test("keeps its choice and adds no entry to the audit log when nothing changes", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    await switchVoices(account.store, requireAccount(account.store, "acme"), by, true);
    expect(account.voices.list(account.id)).toHaveLength(1);
    expect(readAudit(account.store, 9).filter(({ action }) => action === "voices.enable")).toHaveLength(1);
  });
});

describe("a remembered voice", () => {
  test("is proposed for later and for earlier recordings of the account, and never for another account", async () => {
    const account = await VoiceAccount.create();
    const other = await VoiceAccount.create({ store: account.store, name: "other" });
    const earlier = account.record([voiceOf(7), voiceOf(1, 1)]);
    const source = account.record([voiceOf(1)]);
    account.remember(source, 0, "Anna");
    expect(account.states(source)).toEqual(["remembered Anna"]);
    expect(account.states(earlier)).toEqual(["new", "proposed Anna"]);
    expect(account.states(account.record([voiceOf(1, 2), voiceOf(8)]))).toEqual(["proposed Anna", "new"]);
    expect(account.states(account.record([voiceOf(1, 3)], 2))).toEqual(["unclear"]);
    expect(other.states(other.record([voiceOf(1, 2)]))).toEqual(["new"]);
  });

  test("gives its name to a speaker only when it is confirmed, and then has another example", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    const transcript = account.record([voiceOf(1, 2)]);
    const [voice] = account.voices.list(account.id);
    const id = voice?.id ?? "";
    expect(transcript.speakerNames().size).toBe(0);
    account.voices.confirm(transcript, 0, id, by, (name) => transcript.rename(new Map([[0, name]])));
    expect([...transcript.speakerNames()]).toEqual([[0, "Anna"]]);
    expect(account.states(transcript)).toEqual(["remembered Anna"]);
    expect(account.voices.list(account.id)).toMatchObject([{ id, name: "Anna", examples: 2, seconds: 40 }]);
    const again = () => account.voices.confirm(transcript, 0, id, by, () => {});
    expect(refusalOf(again)).toBe("no_proposal");
  });

  test("is not proposed again for a recording in which it was rejected", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    const [id = ""] = account.voices.list(account.id).map((voice) => voice.id);
    const transcript = account.record([voiceOf(1, 2)]);
    account.voices.reject(transcript, 0, id, by);
    expect(account.states(transcript)).toEqual(["new"]);
    expect(account.states(account.record([voiceOf(1, 3)]))).toEqual(["proposed Anna"]);
    expect(refusalOf(() => account.voices.reject(transcript, 0, id, by))).toBe("no_proposal");
  });

  test("is not proposed in a recording in which another speaker has its name", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    const transcript = account.record([voiceOf(1, 2), voiceOf(5)]);
    transcript.rename(new Map([[1, "Anna"]]));
    expect(account.states(transcript)).toEqual(["new", "new"]);
  });

  test("of another embedding model is never proposed, and is learnt anew under its name", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    account.store.$client.run(`UPDATE voices SET model = '${"0".repeat(64)}'`);
    expect(account.voices.list(account.id)).toMatchObject([{ isCurrent: false }]);
    const transcript = account.record([voiceOf(1, 2)]);
    expect(account.states(transcript)).toEqual(["new"]);
    account.remember(transcript, 0, "Anna");
    expect(account.voices.list(account.id)).toMatchObject([{ isCurrent: true, examples: 1 }]);
  });

  test("keeps its latest example and the four others with most speech", async () => {
    const account = await VoiceAccount.create();
    for (const seconds of [30, 10, 50, 40, 20, 60, 9]) {
      account.remember(account.record([voiceOf(1, seconds)], seconds), 0, "Anna");
    }
    expect(account.voices.list(account.id)).toMatchObject([{ examples: 5, seconds: 9 + 60 + 50 + 40 + 30 }]);
    const latest = account.store.$client.query<{ n: number }, []>("SELECT min(seconds) AS n FROM voice_examples").get();
    expect(latest?.n).toBe(9);
  });

  test("does not take a speaker of another voice as an example, although the name is the same", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    const transcript = account.record([voiceOf(2)]);
    expect(refusalOf(() => account.remember(transcript, 0, "Anna"))).toBe("different_voice");
    expect(account.voices.list(account.id)).toMatchObject([{ examples: 1 }]);
  });

  test("loses a speaker who gets another name, but not its only one", async () => {
    const account = await VoiceAccount.create();
    const source = account.record([voiceOf(1)]);
    account.remember(source, 0, "Anna");
    const wrong = account.record([voiceOf(1, 2)]);
    account.remember(wrong, 0, "Anna");
    const rename = (transcript: typeof wrong, name: string) => {
      const before = transcript.namesByNumber();
      transcript.rename(new Map([[0, name]]));
      account.voices.renamed(transcript, before);
    };
    rename(wrong, "Anna");
    expect(account.voices.list(account.id)).toMatchObject([{ examples: 2 }]);
    rename(wrong, "Berta");
    expect(account.voices.list(account.id)).toMatchObject([{ name: "Anna", examples: 1 }]);
    rename(source, "Anna Meier");
    expect(account.voices.list(account.id)).toMatchObject([{ name: "Anna", examples: 1 }]);
    account.voices.remember(source, 0, by);
    expect(account.voices.list(account.id)).toMatchObject([{ name: "Anna Meier", examples: 1 }]);
  });

  test("stays when its recording is deleted, whose own voices go", async () => {
    const account = await VoiceAccount.create();
    const source = account.record([voiceOf(1), voiceOf(2)]);
    account.remember(source, 0, "Anna");
    const { id } = source.recording;
    account.recordings.delete(id);
    await account.recordings.rows.removeDeleted([id]);
    expect(account.rows("speaker_voices")).toBe(0);
    expect(account.states(account.record([voiceOf(1, 2)]))).toEqual(["proposed Anna"]);
  });

  test("is renamed and deleted, with entries in the audit log that have no name", async () => {
    const account = await VoiceAccount.create();
    account.remember(account.record([voiceOf(1)]), 0, "Anna");
    account.remember(account.record([voiceOf(2)]), 0, "Bob");
    const [anna = "", bob = ""] = account.voices.list(account.id).map((voice) => voice.id);
    account.voices.rename(anna, " Anna Meier ", by);
    account.voices.rename(anna, "Anna Meier", by);
    expect(refusalOf(() => account.voices.rename(anna, "Bob", by))).toBe("name_taken");
    for (const name of ["", "  ", "a\u0007b", "x".repeat(101)]) {
      expect(refusalOf(() => account.voices.rename(anna, name, by))).toBe("bad_name");
    }
    await account.voices.delete(bob, by);
    expect(refusalOf(() => account.voices.rename(bob, "Bob", by))).toBe("not_found");
    expect(account.voices.list(account.id)).toMatchObject([{ name: "Anna Meier" }]);
    const entries = readAudit(account.store, 20).filter(({ action }) => action.startsWith("voices."));
    expect(new Set(entries.map(({ action }) => action))).toEqual(
      new Set(["voices.delete", "voices.rename", "voices.remember", "voices.enable"]),
    );
    expect(JSON.stringify(entries)).not.toMatch(/Anna|Bob|Meier/);
  });
});

test("an account remembers a bounded number of voices", async () => {
  const account = await VoiceAccount.create();
  for (let person = 0; person < MAX_VOICES; person++) {
    account.remember(account.record([voiceOf(person)]), 0, `Person ${person}`);
  }
  const one = account.record([voiceOf(MAX_VOICES)]);
  expect(refusalOf(() => account.remember(one, 0, "One more"))).toBe("too_many");
  account.remember(account.record([voiceOf(0, 2)]), 0, "Person 0");
  expect(account.voices.list(account.id)).toHaveLength(MAX_VOICES);
});

test("a speaker without a name, or with too little clean speech, is not remembered", async () => {
  const account = await VoiceAccount.create();
  const transcript = account.record([voiceOf(1)], 2);
  expect(refusalOf(() => account.voices.remember(transcript, 0, by))).toBe("unclear");
  expect(refusalOf(() => account.voices.remember(account.record([voiceOf(1)]), 0, by))).toBe("no_name");
  expect(refusalOf(() => account.voices.remember(account.record([voiceOf(1)]), 5, by))).toBe("unclear");
});

test("a speaker who has no segment any more takes no proposal from another one", async () => {
  const account = await VoiceAccount.create();
  account.remember(account.record([voiceOf(1)]), 0, "Anna");
  const transcript = account.record([voiceOf(1, 2), voiceOf(1)]);
  expect(account.states(transcript)).toEqual(["new", "proposed Anna"]);
  account.store.$client.run("UPDATE segments SET speaker = 0 WHERE recording_id = ?", [transcript.recording.id]);
  expect(account.states(transcript)).toEqual(["proposed Anna"]);
});
