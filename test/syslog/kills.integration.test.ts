import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase, tables } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { messageId } from "../../src/syslog/message.ts";
import { scriptBundle } from "../../tools/development/program-bundle.ts";
import { canMakeCertificates } from "../support/certificate.ts";
import { makeSyslogCertificates, SyslogReceiver } from "../support/syslog-receiver.ts";
import { auditSender } from "./forward-until-killed.ts";

setDefaultTimeout(120_000);

const ENTRIES = 600;
const KILLS = 10;

test.skipIf(!canMakeCertificates("syslog over TLS"))(
  "no audit entry is lost or gets another id while the sender is killed ten times and its receiver is down for the first half",
  async () => {
    using parent = temporaryDirectory();
    const script = await scriptBundle(join(import.meta.dir, "forward-until-killed.ts"), join(parent.path, "script"));
    const directory = join(parent.path, "data");
    mkdirSync(directory);
    const { authority, receiver } = makeSyslogCertificates(parent.path);
    const options = { cert: receiver.certificate, key: receiver.key };
    const unused = await SyslogReceiver.start(options);
    const { port } = unused;
    await unused[Symbol.asyncDispose]();
    let up: SyslogReceiver | null = null;
    let kills = 0;
    for (;;) {
      if (kills === KILLS / 2) up = await SyslogReceiver.start(options, port);
      const command = auditSender(script, directory, ENTRIES, { port, ca: authority.certificatePath });
      const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
      // The first half is killed at numbers of stored entries, the others at numbers of received messages.
      const killAt = kills < KILLS / 2 ? (kills + 1) * 60 : Number.POSITIVE_INFINITY;
      if (up !== null && kills < KILLS) {
        const from = up.messages.length;
        const after = 20 + kills * 10;
        up.onMessage = () => (up?.messages.length ?? 0) >= from + after && child.kill("SIGKILL");
      } else if (up !== null) up.onMessage = () => {};
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        if (Number(text.trim().split("\n").at(-1)) >= killAt) child.kill("SIGKILL");
      }
      await child.exited;
      if (child.signalCode !== "SIGKILL") {
        expect(child.exitCode).toBe(0);
        break;
      }
      kills += 1;
    }
    const store = openDatabase(new DataDirectory(directory).databasePath);
    const stored = store.select().from(tables.auditLog).orderBy(tables.auditLog.id).all();
    store.$client.close();
    const messages = up?.messages ?? [];
    const ids = messages.map(({ data }) => data["transcribe@32473.id"] ?? "");
    // Without its repetitions, the receiver has each entry once and in order.
    expect([...new Set(ids)]).toEqual(stored.map(messageId));
    expect([stored.length, kills, up?.faults.filter((fault) => !fault.includes("within a frame"))]).toEqual([
      ENTRIES,
      KILLS,
      [],
    ]);
    expect(messages.length).toBeGreaterThan(ENTRIES);
    await up?.[Symbol.asyncDispose]();
  },
);
