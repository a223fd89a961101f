import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { AudioStore } from "../../src/storage/index.ts";

/** Tests what every store of audio promises. @param create makes an empty store that may use a directory */
export function describeAudioStore(name: string, create: (directory: string) => AudioStore): void {
  const inStore = async (run: (store: AudioStore, file: (content: string) => string) => Promise<void>) => {
    using parent = temporaryDirectory();
    let files = 0;
    const file = (content: string) => {
      const path = join(parent.path, `sent-${files++}`);
      writeFileSync(path, content);
      return path;
    };
    await run(create(parent.path), file);
  };
  const read = async (store: AudioStore, id: string) => {
    await using audio = await store.open(id);
    return audio === null ? null : readFileSync(audio.path, "utf8");
  };
  const ids = [Bun.randomUUIDv7(), Bun.randomUUIDv7()] as const;

  test(`${name} takes a file over, and gives it back as a local file`, () =>
    inStore(async (store, file) => {
      const path = file("speech");
      await store.put(ids[0], path);
      expect([existsSync(path), await store.has(ids[0]), await read(store, ids[0])]).toEqual([false, true, "speech"]);
      expect(await store.list()).toEqual([ids[0]]);
      await using audio = await store.open(ids[0]);
      expect(audio?.diskBytes).toBe(6);
    }));

  test(`${name} replaces the audio of a recording that is sent again`, () =>
    inStore(async (store, file) => {
      await store.put(ids[0], file("a part"));
      await store.put(ids[0], file("the whole"));
      expect([await read(store, ids[0]), await store.list()]).toEqual(["the whole", [ids[0]]]);
    }));

  test(`${name} has nothing of a recording without audio, and removes it without an error`, () =>
    inStore(async (store) => {
      expect([await store.has(ids[0]), await read(store, ids[0]), await store.list()]).toEqual([false, null, []]);
      await store.remove(ids[0]);
      await store.sync();
    }));

  test(`${name} removes the audio of one recording, which stays readable where it is in use`, () =>
    inStore(async (store, file) => {
      for (const id of ids) await store.put(id, file(`speech of ${id}`));
      await using audio = await store.open(ids[0]);
      const inUse = Bun.file(audio?.path ?? "").stream();
      const reader = inUse.getReader();
      const first = await reader.read();
      await store.remove(ids[0]);
      await store.sync();
      expect(new TextDecoder().decode(first.value)).toBe(`speech of ${ids[0]}`);
      await reader.cancel();
      expect([await store.has(ids[0]), await store.list()]).toEqual([false, [ids[1]]]);
    }));

  test(`${name} keeps nothing of a file that could not be stored`, () =>
    inStore(async (store) => {
      await expect(store.put(ids[0], "/nonexistent/sent")).rejects.toThrow("ENOENT");
      expect([await store.has(ids[0]), await store.list()]).toEqual([false, []]);
    }));

  test.each(["", "..", "../transcribe.db", "/etc/passwd", `${ids[0]}/x`, ids[0].toUpperCase()])(
    `${name} refuses an id that is not a UUID: %j`,
    (id) =>
      inStore(async (store, file) => {
        const calls: readonly (() => Promise<unknown>)[] = [
          () => store.put(id, file("x")),
          () => store.open(id),
          () => store.has(id),
          () => store.remove(id),
        ];
        for (const call of calls) expect(await call().catch((error: unknown) => error)).toBeInstanceOf(RangeError);
      }),
  );
}
