/** A stream of events to a client. After the client has disconnected, it sends nothing. */
export interface EventSink {
  /** Sends one event. */
  send(event: { readonly type: string; readonly [field: string]: unknown }): void;
  /** Sends one event whose JSON comes in parts, as fast as the client reads them. */
  sendParts(json: AsyncIterable<string>): Promise<void>;
  /** Resolves when the client has read what was sent before, up to some hundred kilobytes. */
  ready(): Promise<void>;
}

/** Interval of comments that keep the connection alive. Proxies often drop a connection that is silent for 60 s. */
const KEEP_ALIVE_MILLISECONDS = 15_000;
/** Bytes that wait for the client, beyond which `ready` waits for it. */
const MAX_WAITING_BYTES = 128 * 1024;

const encoder = new TextEncoder();
const comment = encoder.encode(": keep-alive\n\n");

interface StreamOptions {
  /** Sends the events. The answer ends when this has finished; it must not throw. */
  readonly run: (sink: EventSink) => Promise<void>;
  /** Called when the client disconnects before the end. */
  readonly onDisconnect: () => void;
  /** Interval of comments; another one than KEEP_ALIVE_MILLISECONDS in tests. */
  readonly keepAliveMilliseconds?: number;
}

/** Returns an answer that sends events as they happen (server-sent events, WHATWG HTML, 9.2). */
export function eventStream({ run, onDisconnect, keepAliveMilliseconds }: StreamOptions): Response {
  let isOpen = true;
  let isInEvent = false;
  let keepAlive: Timer | undefined;
  let wanted = Promise.withResolvers<void>();
  const end = () => {
    isOpen = false;
    clearInterval(keepAlive);
    wanted.resolve();
  };
  const source = {
    start(controller: ReadableStreamDefaultController<Uint8Array>) {
      const write = (bytes: Uint8Array) => {
        if (isOpen) controller.enqueue(bytes);
      };
      const ready = async () => {
        while (isOpen && (controller.desiredSize ?? 0) <= 0) {
          wanted = Promise.withResolvers();
          await wanted.promise;
        }
      };
      // The first bytes also send the headers, for which some clients wait only some minutes.
      write(comment);
      keepAlive = setInterval(() => {
        if (!isInEvent) write(comment);
      }, keepAliveMilliseconds ?? KEEP_ALIVE_MILLISECONDS);
      const sink: EventSink = {
        ready,
        send(event) {
          const name = event.type === "error" ? "event: error\n" : "";
          write(encoder.encode(`${name}data: ${JSON.stringify(event)}\n\n`));
        },
        async sendParts(json) {
          isInEvent = true;
          write(encoder.encode("data: "));
          try {
            for await (const part of json) {
              write(encoder.encode(part));
              await ready();
            }
          } finally {
            // Also after a failure: the error is an event of its own.
            write(encoder.encode("\n\n"));
            isInEvent = false;
          }
        },
      };
      void run(sink).finally(() => {
        if (isOpen) controller.close();
        end();
      });
    },
    pull: () => wanted.resolve(),
    cancel() {
      end();
      onDisconnect();
    },
  };
  const body = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: MAX_WAITING_BYTES }));
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" },
  });
}
