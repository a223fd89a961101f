import { join } from "node:path";
import { root, samplePath } from "../../../harness/checkout.ts";
import { newServer } from "../../../harness/measured-server.ts";
import { environmentWith, killedWithParent, lines, type TestServer } from "../../../harness/server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { installLivePeers, type LivePeer, livePeers } from "../../corpus/index.ts";
import { beforeStop } from "../../shared/processes.ts";
import { CommandError } from "../../shared/run-command.ts";
import { liveKitProtocol, ownProtocol, type Protocol, whisperLiveProtocol } from "./protocols.ts";

/** A server that transcribes live sound. */
export interface LiveProgram extends AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly protocol: Protocol;
}

export const ourName = "transcribe, with speakers";

/** Time for a server to load its model. The first start of a peer compiles its Python modules. */
const START_MILLISECONDS = 180_000;
const POLL_MILLISECONDS = 200;
/** Lines of a server's output that an error has. */
const LAST_LINES = 3;

/** Starts a server of this checkout. @param sessions number of sessions that it takes at the same time */
export async function startOurs(
  sessions: number,
  language: string | null,
): Promise<LiveProgram & { readonly server: TestServer }> {
  const server = newServer({
    TRANSCRIBE_LIVE_SESSIONS: String(sessions),
    // One of the accounts has all sessions.
    TRANSCRIBE_LIMITS_LIVE_SESSIONS_PER_ACCOUNT: String(sessions),
  });
  await server.start();
  await server.untilReady();
  const { key } = server.client("live");
  const protocol = ownProtocol(server.baseUrl.replace(/^http/, "ws"), key, language);
  return {
    ...{ name: ourName, server, pid: server.pid, protocol },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/**
 * Starts another program.
 * @throws {CommandError} when its packages are unavailable, or it does not start
 */
export async function startPeer(program: LivePeer, language: string | null): Promise<LiveProgram> {
  const commandOf = await installLivePeers();
  const folder = temporaryDirectory();
  const port = freePort();
  const model = join(root, "build/models/ggml-base.bin");
  const sample = samplePath("sample.wav");
  const { command, environment } = commandOf({ program, port, language, model, folder: folder.path, sample });
  const child = Bun.spawn(killedWithParent(command), {
    env: environmentWith(environment),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stopping = beforeStop(() => child.kill("SIGKILL"));
  const output: string[] = [];
  const [out, errors] = [collect(child.stdout, output), collect(child.stderr, output)];
  const stop = async () => {
    child.kill("SIGKILL");
    await Promise.all([child.exited, out, errors]);
    stopping[Symbol.dispose]();
    folder[Symbol.dispose]();
  };
  const giveUpAt = performance.now() + START_MILLISECONDS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      await stop();
      throw new CommandError(`it did not start: ${output.slice(-LAST_LINES).join(" / ")}`);
    }
    await Bun.sleep(POLL_MILLISECONDS);
  }
  const protocol = program === "whisper-live" ? whisperLiveProtocol(port, language) : liveKitProtocol(port);
  return { name: livePeers[program], pid: child.pid, protocol, [Symbol.asyncDispose]: stop };
}

/** Returns a port that was free a moment ago. */
function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

/** Returns whether a server listens on a port. */
async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

/** Collects the last lines of an output, which has to be read so that the program can write it. */
async function collect(stream: ReadableStream<Uint8Array>, last: string[]): Promise<void> {
  for await (const line of lines(stream)) {
    if (line.trim() !== "") last.push(line);
    last.splice(0, last.length - LAST_LINES);
  }
}
