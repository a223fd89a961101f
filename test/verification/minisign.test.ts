import { describe, expect, test } from "bun:test";
import { readPublicKey, verifySignature } from "../../src/verification/minisign.ts";
import { readSecretKey, signFile } from "../../tools/release/minisign.ts";
import { makeKeyPair } from "../support/minisign-keys.ts";

const content = Buffer.from("test");
const pair = makeKeyPair();
const key = readPublicKey(pair.public);
const signature = signFile(content, readSecretKey(pair.secret), "timestamp:1\tfile:SHA256SUMS");
const lines = signature.split("\n");

/** Replaces one line of the signature. */
function withLine(index: number, text: string): string {
  return lines.with(index, text).join("\n");
}

/** Inverts bits in one byte of a base64 line. */
function damaged(index: number, byte: number, bits = 1): string {
  const bytes = Buffer.from(lines[index] ?? "", "base64");
  bytes[byte] = (bytes[byte] ?? 0) ^ bits;
  return withLine(index, bytes.toString("base64"));
}

describe("a signature of minisign", () => {
  // Test vector of the Rust implementation, minisign-verify.
  const published = {
    key: "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3",
    signature: `untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
trusted comment: timestamp:1556193335\tfile:test
y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==
`,
  };

  test("of another implementation is accepted, with its trusted comment", () => {
    const theirs = readPublicKey(published.key);
    expect(theirs.id).toBe("E7620F1842B4E81F");
    expect(verifySignature(content, published.signature, theirs)).toBe("timestamp:1556193335\tfile:test");
    expect(() => verifySignature(Buffer.from("Test"), published.signature, theirs)).toThrow("not of this file");
  });

  test("of our own is accepted", () => {
    expect(verifySignature(content, signature, key)).toBe("timestamp:1\tfile:SHA256SUMS");
    expect(verifySignature(content, withLine(0, "untrusted comment: anything"), key)).toContain("timestamp:1");
  });

  test.each([
    ["another key", damaged(1, 5), /was made with the key/],
    ["a changed signature", damaged(1, 40), /not of this file/],
    ["a changed trusted comment", withLine(2, "trusted comment: timestamp:2"), /trusted comment was changed/],
    ["a changed signature of the comment", damaged(3, 0), /trusted comment was changed/],
    ["the old form", damaged(1, 1, 0x20), /old form/],
    ["a line too many", `${signature}more\n`, /format/],
    ["a line too few", lines.slice(0, 3).join("\n"), /format/],
    ["text after the base64", withLine(1, `${lines[1]} `), /format/],
    ["nothing", "", /format/],
  ])("with %s is refused", (_, changed, complaint) => {
    expect(() => verifySignature(content, changed, key)).toThrow(complaint);
  });

  test.each([
    ["nothing", ""],
    ["a word", "RWQ"],
    ["a secret key", pair.secret],
    ["a signature", signature],
    ["a key with a line too many", `${pair.public}more\n`],
  ])("needs a public key, not %s", (_, text) => {
    expect(() => readPublicKey(text)).toThrow("no public key of minisign");
  });

  test("is made by an undamaged secret key without a password only", () => {
    const bytes = Buffer.from(pair.secret.split("\n")[1] ?? "", "base64");
    const changed = (place: number, value: number) => {
      const copy = Buffer.from(bytes);
      copy[place] = value;
      return `untrusted comment: x\n${copy.toString("base64")}\n`;
    };
    expect(() => readSecretKey(changed(2, 0x53))).toThrow("password");
    expect(() => readSecretKey(changed(70, (bytes[70] ?? 0) ^ 1))).toThrow("damaged");
    expect(() => readSecretKey(pair.public)).toThrow("no secret key");
    expect(() => signFile(content, readSecretKey(pair.secret), "two\nlines")).toThrow("one line");
  });
});
