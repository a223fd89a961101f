import { expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FollowedDirectory } from "./followed-directory.ts";

const newId = () => Bun.randomUUIDv7();

/** Writes a file as it was some time ago, when nothing wrote it any more. */
function put({ server }: FollowedDirectory, path: string, text: string): void {
  const target = join(server.root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  utimesSync(target, Date.now() / 1000 - 60, Date.now() / 1000 - 60);
}

const there = ({ standby }: FollowedDirectory, path: string) =>
  existsSync(join(standby.root, path)) ? readFileSync(join(standby.root, path), "utf8") : null;

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(10);
}

test("a standby gets the files of a takeover, and no others", async () => {
  await using pair = new FollowedDirectory();
  const id = newId();
  const copied = [
    `uploads/${id}`,
    `live/${id}/sound.pcm`,
    "state/audio/owner",
    `state/audio/removed/${id}`,
    `work/${id}/audio.pcm`,
    `work/${id}/track-1/activity/000000.block`,
    "models/installed/whisper-small/model.bin",
    "models/installed/whisper-small/model.json",
  ];
  const others = [
    "uploads/notes.txt",
    `live/${id}/activity/000000.block`,
    "state/devices.json",
    "backups/transcribe-0.1.0-20261121T135055123Z.db",
    `listening/${id}/audio.webm`,
    `incoming/${id}`,
    `work/${id}/activity/000001.block.0192.partial`,
    "models/downloads/whisper-small.part",
    "models/tmp/model.bin",
  ];
  for (const path of [...copied, ...others]) put(pair, path, path);
  symlinkSync("/etc/hostname", join(pair.server.root, "uploads", newId()));
  pair.connect();
  await pair.confirmed();
  await until(() => there(pair, "models/installed/whisper-small/model.json") !== null);
  for (const path of copied) expect(there(pair, path)).toBe(path);
  for (const path of others) expect(there(pair, path)).toBeNull();
  expect(readdirSync(join(pair.standby.root, "uploads"))).toEqual([id]);
});

test.each([
  ["the server's process stores it", true, 1],
  ["another process does", false, 1],
  ["the server's process stores a large one", true, 60_000],
  ["another process stores a large one", false, 60_000],
])("the audio of a recording is on the standby before the record is: %s", async (_, knowsAudio, repeats) => {
  await using pair = new FollowedDirectory(knowsAudio);
  pair.connect();
  await pair.confirmed();
  const missing: string[] = [];
  for (let count = 0; count < 25; count++) {
    const id = newId();
    // As a create does: under another name first, then the record at once.
    const upload = join(pair.server.incoming, `${id}.part`);
    writeFileSync(upload, id.repeat(repeats));
    if (knowsAudio) {
      await pair.server.audio.prepare(upload);
      await pair.server.audio.put(id, upload);
    } else await rename(upload, join(pair.server.uploads, id));
    pair.write(id);
    await Bun.sleep(count % 7);
    missing.push(...pair.notes().filter((note) => there(pair, `uploads/${note}`) !== note.repeat(repeats)));
  }
  await pair.confirmed();
  expect(pair.notes()).toHaveLength(25);
  expect(missing).toEqual([]);
});

const drafts = ({ standby }: FollowedDirectory) => {
  const path = join(standby.incoming, "standby-files");
  return existsSync(path) ? readdirSync(path) : [];
};

/** Begins an upload that takes a second on a network of 20 MB/s. */
function upload({ server }: FollowedDirectory) {
  const content = crypto.getRandomValues(Buffer.alloc(65_536)).toString("latin1").repeat(320);
  const path = join(server.incoming, `${newId()}.part`);
  writeFileSync(path, content, "latin1");
  return { path, content: Buffer.from(content, "latin1") };
}

test("a large recording delays no transaction on a slow network, and is sent once", async () => {
  await using pair = new FollowedDirectory(true);
  pair.connect(undefined, 20_000_000);
  await pair.confirmed();
  const { path, content } = upload(pair);
  await until(() => drafts(pair).length > 0);
  pair.write("during the upload");
  await pair.confirmed();
  expect(drafts(pair)).toHaveLength(1);
  // A header that has the length is written last.
  content.write("RIFF");
  writeFileSync(path, "RIFF", { flag: "r+" });
  const prepared = pair.server.audio.prepare(path).then(() => "the upload");
  pair.write("while it is sent");
  expect(await Promise.race([prepared, pair.confirmed().then(() => "the transaction")])).toBe("the transaction");
  await prepared;
  const id = newId();
  await pair.server.audio.put(id, path);
  pair.write(id);
  await pair.confirmed();
  expect(pair.notes()).toEqual(["during the upload", "while it is sent", id]);
  expect(readFileSync(join(pair.standby.uploads, id)).equals(content)).toBe(true);
  expect(drafts(pair)).toEqual([]);
  expect(pair.sentBytes).toBeLessThan(content.length + 500_000);
});

test("an upload that is cancelled, or whose connection breaks, leaves nothing on the standby", async () => {
  await using pair = new FollowedDirectory();
  pair.connect(undefined, 20_000_000);
  await pair.confirmed();
  const cancelled = upload(pair);
  await until(() => drafts(pair).length > 0);
  rmSync(cancelled.path);
  await until(() => drafts(pair).length === 0);
  const interrupted = upload(pair);
  await until(() => drafts(pair).length > 0);
  await pair.disconnect();
  expect(drafts(pair)).toEqual([]);
  const id = newId();
  await rename(interrupted.path, join(pair.server.uploads, id));
  pair.write(id);
  for (const cutAfter of [1_000, 300_000, 5_000_000]) {
    pair.connect(cutAfter);
    await pair.ended();
    expect(pair.notes()).toEqual([]);
    expect(readdirSync(pair.standby.uploads)).toEqual([]);
  }
  pair.connect();
  await pair.confirmed();
  expect(readFileSync(join(pair.standby.uploads, id)).equals(interrupted.content)).toBe(true);
  expect([pair.notes(), drafts(pair)]).toEqual([[id], []]);
});

test("a file that is removed or replaced while a standby follows, or is away, is so there, and nothing returns", async () => {
  await using pair = new FollowedDirectory();
  const [first, second, third] = [newId(), newId(), newId()];
  for (const id of [first, second, third]) {
    put(pair, `uploads/${id}`, id);
    put(pair, `work/${id}/audio.pcm`, id);
  }
  pair.connect();
  await pair.confirmed();
  await until(() => there(pair, `work/${third}/audio.pcm`) !== null);
  await pair.server.removeFiles(first);
  pair.write("removed");
  await until(() => there(pair, `uploads/${first}`) === null && !existsSync(join(pair.standby.work, first)));
  await pair.disconnect();
  await pair.server.removeFiles(second);
  put(pair, `uploads/${third}`, "another, longer content");
  pair.connect();
  await pair.confirmed();
  await until(() => there(pair, `uploads/${second}`) === null && !existsSync(join(pair.standby.work, second)));
  expect(there(pair, `uploads/${third}`)).toBe("another, longer content");
  expect(readdirSync(pair.standby.uploads)).toEqual([third]);
});

test("the sound of a live session is appended as it grows, and goes with the session", async () => {
  await using pair = new FollowedDirectory();
  const path = `live/${newId()}/sound.pcm`;
  put(pair, path, "a".repeat(100_000));
  pair.connect();
  await pair.confirmed();
  pair.sentBytes = 0;
  for (const next of ["bb", "cc"]) {
    writeFileSync(join(pair.server.root, path), next, { flag: "a" });
    await until(() => there(pair, path)?.endsWith(next) === true);
  }
  expect(there(pair, path)).toBe(`${"a".repeat(100_000)}bbcc`);
  expect(pair.sentBytes).toBeLessThan(50_000);
  rmSync(dirname(join(pair.server.root, path)), { recursive: true });
  await until(() => !existsSync(dirname(join(pair.standby.root, path))));
});

test("a large file of work does not delay the transactions", async () => {
  await using pair = new FollowedDirectory();
  pair.connect();
  await pair.confirmed();
  const path = `work/${newId()}/audio.pcm`;
  put(pair, path, "x".repeat(60_000_000));
  await until(() => drafts(pair).length > 0);
  pair.write("meanwhile");
  await pair.confirmed();
  expect(pair.notes()).toEqual(["meanwhile"]);
  expect(there(pair, path)).toBeNull();
  await until(() => there(pair, path) !== null);
  expect(there(pair, path)).toHaveLength(60_000_000);
});
