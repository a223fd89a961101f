import type { Socket } from "bun";

/** Pause between two transfers. */
const TICK_MILLISECONDS = 20;

/** A network between one machine and the broker that carries few bytes a second towards the broker. */
export class SlowNetwork implements Disposable {
  readonly #listener;
  readonly #port: number;

  /**
   * @param target the broker's URL
   * @param ownPort of an earlier network, to continue in its place
   */
  constructor(target: string, bytesPerSecond: number, ownPort = 0) {
    const { hostname, port } = new URL(target);
    this.#listener = Bun.listen<Passage>({
      hostname: "127.0.0.1",
      port: ownPort,
      socket: {
        async open(near) {
          near.data = { waiting: [], timer: null };
          const far = await Bun.connect({
            hostname,
            port: Number(port),
            socket: { data: (_, bytes) => void near.write(bytes), close: () => void near.end() },
          });
          let passedAt = performance.now();
          near.data.timer = setInterval(() => {
            const now = performance.now();
            passOn(near.data.waiting, far, Math.ceil(((now - passedAt) * bytesPerSecond) / 1000));
            passedAt = now;
          }, TICK_MILLISECONDS);
        },
        data: (near, bytes) => void near.data.waiting.push(Buffer.from(bytes)),
        close(near) {
          if (near.data.timer !== null) clearInterval(near.data.timer);
        },
      },
    });
    this.#port = this.#listener.port;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true);
  }
}

interface Passage {
  readonly waiting: Buffer[];
  timer: NodeJS.Timeout | null;
}

/** Sends at most `share` bytes of what waits. */
function passOn(waiting: Buffer[], far: Socket, share: number): void {
  for (let left = share; left > 0; ) {
    const first = waiting[0];
    if (first === undefined) return;
    const sent = far.write(first.subarray(0, left));
    if (sent <= 0) return;
    left -= sent;
    if (sent < first.length) waiting[0] = first.subarray(sent);
    else waiting.shift();
  }
}
