import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../native/build.ts";
import { rotateSecret } from "../../src/webhooks/index.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { askPython, installPythonPackages } from "../../tools/shared/python.ts";
import { HookReceiver } from "../support/hook-receiver.ts";
import { HookBench } from "./support.ts";

setDefaultTimeout(120_000);

const packages = await installPythonPackages(defaultCacheRoot(), testPackages.standardwebhooks).catch(
  (error: unknown) => {
    console.warn(`SKIPPED: the verifiers of Standard Webhooks; ${String(error)}`);
    return null;
  },
);
const node = Bun.which("node");

/** Sends an event in a rotation. @returns questions to a verifier: with the old, the new and a wrong secret */
async function questions() {
  await using receiver = await HookReceiver.start();
  await using bench = new HookBench();
  const { webhook, secret } = bench.add(receiver.url);
  const next = rotateSecret(bench.store, webhook.id, 60_000, { actor: "operator", now: bench.now }).secret;
  bench.complete();
  await bench.send();
  const [message] = receiver.messages;
  const wrong = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  return [secret, next, wrong].map((each) => ({ secret: each, body: message?.body, headers: message?.headers }));
}

const expected = [
  "recording.completed",
  "recording.completed",
  expect.stringMatching(/^refused: No matching signature/),
];

test.skipIf(packages === null)(
  "the verifier for Python accepts a message with both secrets of a rotation, and no other",
  async () => {
    const script = join(import.meta.dir, "verify.py");
    expect(await askPython(script, packages ?? "", await questions(), Type.Array(Type.String()))).toEqual(expected);
  },
);

test.skipIf(node === null)(
  "the verifier for Node.js accepts a message with both secrets of a rotation, and no other",
  async () => {
    const program = `const { Webhook } = require("standardwebhooks");
    const verify = ({ secret, body, headers }) => {
      try { return new Webhook(secret).verify(body, headers).type; } catch (error) { return "refused: " + error.message; }
    };
    const questions = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    console.log(JSON.stringify(questions.map(verify)));`;
    const stdin = Buffer.from(JSON.stringify(await questions()));
    const child = Bun.spawn([node ?? "", "-e", program], { stdin, cwd: join(import.meta.dir, "../..") });
    expect(JSON.parse(await child.stdout.text())).toEqual(expected);
  },
);
