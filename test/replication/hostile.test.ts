import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { pino } from "pino";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { follow } from "../../src/replication/follower.ts";
import { contentHead, kinds, MAX_MESSAGE_BYTES, ProtocolError } from "../../src/replication/messages.ts";
import { StandbySource } from "../../src/replication/source.ts";
import { DataDirectory } from "../../src/storage/index.ts";

const ID = "0192a4d5-0000-7000-8000-000000000001";

function message(kind: number, body: string | Uint8Array): Buffer {
  const content = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(content.length);
  head[4] = kind;
  return Buffer.concat([head, content]);
}

const json = (value: object) => message(kinds.json, JSON.stringify(value));
const begin = (number = 1) => json({ type: "file", number, appendTo: null, from: 0 });
const content = (bytes: string, { number = 1, position = 0 } = {}) =>
  message(kinds.content, Buffer.concat([contentHead(number, position), Buffer.from(bytes)]));
const end = (path: string, bytes = 3) => json({ type: "fileEnd", number: 1, entry: { path, bytes, changedAt: 1 } });
/** A file of three bytes. */
const file = (path: string, bytes = 3) => Buffer.concat([begin(), content("abc"), end(path, bytes)]);
const length = (bytes: number) => {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes);
  return head;
};

const fromServer: Readonly<Record<string, readonly Buffer[]>> = {
  "a message without end": [length(MAX_MESSAGE_BYTES + 1)],
  "no JSON": [message(kinds.json, "{")],
  "an unknown message": [json({ type: "execute", command: "id" })],
  "an unknown kind of message": [message(200, "x")],
  "a file above the directory": [file("../escaped")],
  "a file with a path that leads out": [file(`uploads/../../escaped`)],
  "an absolute path": [file("/tmp/escaped")],
  "the settings of the directory": [file("standby.json")],
  "the database as a file": [file("transcribe.db")],
  "a file with an end of line in its name": [file(`uploads/${ID}\n`)],
  "a work file with a hidden name": [file(`work/${ID}/.ssh`)],
  "an unfinished upload by its name": [file(`incoming/${ID}.part`)],
  "more bytes than it announced": [file(`uploads/${ID}`, 2)],
  "fewer bytes than it announced": [file(`uploads/${ID}`, 4)],
  "bytes that continue a file which is not there": [
    json({ type: "file", number: 1, appendTo: `live/${ID}/sound.pcm`, from: 5 }),
  ],
  "bytes that continue a file outside": [json({ type: "file", number: 1, appendTo: "../../etc/passwd", from: 1 })],
  "bytes in the middle of a new file": [json({ type: "file", number: 1, appendTo: null, from: 5 })],
  "bytes with a gap before them": [begin(), content("abc", { position: 9 })],
  "bytes without a file": [content("x")],
  "bytes without a number": [message(kinds.content, "x")],
  "two files with the same number": [begin(), begin()],
  "files without end": Array.from({ length: 300 }, (_, index) => begin(index)),
  "a removal outside": [json({ type: "remove", path: "../../etc/passwd" })],
  "a log without a database": [message(kinds.logHeader, Buffer.alloc(32))],
  "frames without a log": [message(kinds.logFrames, Buffer.alloc(4120))],
  "a database of an impossible size": [json({ type: "snapshot", bytes: Number.MAX_SAFE_INTEGER })],
  "a database of half a page": [json({ type: "snapshot", bytes: 700 })],
  "a block that was not announced": [message(kinds.block, Buffer.alloc(100))],
  "a block beyond the end": [
    json({ type: "snapshot", bytes: 4096 }),
    message(kinds.block, Buffer.from([0, 0, 0, 9, 1])),
  ],
  "an end before the blocks": [json({ type: "snapshot", bytes: 4096 }), json({ type: "snapshotEnd" })],
  "no database at all": [
    json({ type: "snapshot", bytes: 4096 }),
    message(kinds.block, Buffer.concat([Buffer.alloc(4), Buffer.alloc(4096, "x")])),
    json({ type: "snapshotEnd" }),
  ],
};

describe("a standby ends the connection, and writes nothing outside, if its server sends", () => {
  test.each(Object.keys(fromServer))("%s", async (what) => {
    using temporary = temporaryDirectory();
    const paths = new DataDirectory(join(temporary.path, "standby"));
    const [ours, theirs] = duplexPair();
    theirs.resume();
    theirs.on("error", () => {});
    theirs.on("end", () => ours.destroy());
    const { signal } = new AbortController();
    const followed = follow(ours, { paths, onState() {}, onContact() {}, onDatabase() {}, signal });
    for (const bytes of fromServer[what] ?? []) theirs.write(bytes);
    const error = await followed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error instanceof ProtocolError || /ENOENT/.test(String(error))).toBe(true);
    expect(readdirSync(temporary.path)).toEqual(["standby"]);
    expect(existsSync(paths.databasePath)).toBe(false);
    expect(readdirSync(paths.uploads)).toEqual([]);
  });
});

const sourceOptions = { maxLogBytes: () => 2 ** 30, knowsAudio: false, maxAudioWait: () => null, now: Date.now };
const hello = { type: "hello", protocol: 1, version: "1.0.0", position: null };
const fromStandby: Readonly<Record<string, readonly Buffer[]>> = {
  "a message without end": [length(2 ** 32 - 1)],
  "another protocol": [json({ ...hello, protocol: 2 })],
  "an unknown message": [json({ type: "give", path: "/etc/passwd" })],
  "a block of a database": [message(kinds.block, "x")],
  "a path outside": [json(hello), json({ type: "have", entries: [{ path: "../x", bytes: 1, changedAt: 1 }] })],
  "too many entries": [
    json(hello),
    json({ type: "have", entries: Array(1001).fill({ path: `uploads/${ID}`, bytes: 1, changedAt: 1 }) }),
  ],
  "digests that nobody wants": [json(hello), message(kinds.digests, Buffer.alloc(16))],
  "a confirmation of nothing": [json(hello), json({ type: "haveAll" }), json({ type: "synced", number: 99 })],
  "a report of bytes that it did not get": [json(hello), json({ type: "haveAll" }), json({ type: "stored", bytes: 9 })],
  "more digests than blocks": [
    json(hello),
    json({ type: "haveAll" }),
    ...Array<Buffer>(50).fill(message(kinds.digests, Buffer.alloc(100_000))),
  ],
};

describe("a server ends the connection, and its database stays as it is, if its standby sends", () => {
  test.each(Object.keys(fromStandby))("%s", async (what) => {
    using temporary = temporaryDirectory();
    const paths = new DataDirectory(temporary.path);
    const store = openDatabase(paths.databasePath);
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const source = new StandbySource({ ...sourceOptions, paths, log });
    const [ours, theirs] = duplexPair();
    ours.resume();
    ours.on("error", () => {});
    const served = source.serve(theirs, "hostile");
    for (const bytes of fromStandby[what] ?? []) ours.write(bytes);
    await served;
    expect(lines.join("")).toContain("standby.disconnected");
    expect(source.status().standby).toBeNull();
    source.stop();
    store.$client.close();
    expect(readFileSync(paths.databasePath).subarray(0, 15).toString()).toBe("SQLite format 3");
  });
});

test("a second standby is refused while one follows, and the same one replaces its former connection", async () => {
  using temporary = temporaryDirectory();
  const paths = new DataDirectory(temporary.path);
  const store = openDatabase(paths.databasePath);
  const source = new StandbySource({ ...sourceOptions, paths, log: pino({ level: "silent" }) });
  const [first, firstEnd] = duplexPair();
  first.resume();
  const served = source.serve(firstEnd, "one");
  const [second, secondEnd] = duplexPair();
  second.resume();
  await source.serve(secondEnd, "another");
  expect(source.status().standby).toBe("one");
  const [third, thirdEnd] = duplexPair();
  third.resume();
  const replaced = source.serve(thirdEnd, "one");
  await served;
  expect(source.status().standby).toBe("one");
  source.stop();
  await replaced;
  store.$client.close();
});
