import { describe, expect, test } from "bun:test";
import {
  AccountsError,
  createAccount,
  getAccount,
  normalizeVocabulary,
  readAudit,
  setVocabulary,
} from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";

describe("a vocabulary", () => {
  test.each([
    ["Kubernetes, Grafana", "Kubernetes, Grafana"],
    ["  Kubernetes\t \n\n Grafana \r\n", "Kubernetes, Grafana"],
    ["Dr. Żółć;\nMüller-Lüdenscheidt,\nOld Bernard", "Dr. Żółć; Müller-Lüdenscheidt, Old Bernard"],
    ["東京都、\n渋谷", "東京都、 渋谷"],
    // Decomposed, as file names on some systems are.
    ["Mu\u0308ller", "Müller"],
    [
      "葛\u{e0100}城 \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\u{e0068} 1\ufe0f\u20e3",
      "葛\u{e0100}城 \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} 1\ufe0f\u20e3",
    ],
    ["山田\u3000太郎, M.\u00a0Li, דוד\u200f, علی\u200cرضا", "山田\u3000太郎, M.\u00a0Li, דוד\u200f, علی\u200cرضا"],
    ["<|endoftext|> [_EOT_]", "<|endoftext|> [_EOT_]"],
  ])("the vocabulary %j is stored as %j", (given, kept) => {
    expect(normalizeVocabulary(given)).toBe(kept);
  });

  test.each([
    ["", "no name or term"],
    [" \n ,;", "no name or term"],
    ["a\u0000b", "control characters"],
    ["a\u001b[31mb", "control characters"],
    ["a\u202eb", "control characters"],
    ["a\ud800b", "control characters"],
    ["ab ".repeat(1500), "too long"],
  ])("the vocabulary %j is refused (%s)", (given, why) => {
    expect(() => normalizeVocabulary(given)).toThrow(AccountsError);
    expect(() => normalizeVocabulary(given)).toThrow(why);
  });

  test("appears in the audit log only by its length", () => {
    const store = openDatabase(":memory:");
    const by = { actor: "operator", now: 1 };
    const account = createAccount(store, "acme", by);
    setVocabulary(store, account, by, "Projekt Zitronenfalter");
    expect(getAccount(store, account.id)?.vocabulary).toBe("Projekt Zitronenfalter");
    const [entry] = readAudit(store, 1);
    expect([entry?.action, entry?.subject]).toEqual(["accounts.vocabulary", account.id]);
    expect(entry?.details).toBe(JSON.stringify({ name: "acme", characters: 22 }));
  });
});
