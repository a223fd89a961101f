import { join } from "node:path";
import type { Lures } from "./playlists.ts";
import { tone, wave } from "./wave.ts";

/** Sets up targets for hostile files: a recording in a folder, and an address that counts connections. */
export async function setLures(folder: string): Promise<Lures & Disposable & { connections(): number }> {
  let connections = 0;
  const host = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: () => void connections++, data() {} },
  });
  const path = join(folder, "secret.wav");
  await Bun.write(path, wave(tone(2)));
  return {
    path,
    origin: `http://127.0.0.1:${host.port}`,
    connections: () => connections,
    [Symbol.dispose]: () => host.stop(true),
  };
}
