/** Sends one event. Sends nothing after the client has disconnected. */
export type SendEvent = (event: { readonly type: string; readonly [field: string]: unknown }) => void;

/** Interval of comments that keep the connection alive. Proxies often drop a connection that is silent for 60 s. */
const KEEP_ALIVE_MILLISECONDS = 15_000;

const encoder = new TextEncoder();
const comment = encoder.encode(": keep-alive\n\n");

interface StreamOptions {
  /** Sends the events. The answer ends when this has finished; it must not throw. */
  readonly run: (send: SendEvent) => Promise<void>;
  /** Called when the client disconnects before the end. */
  readonly onDisconnect: () => void;
  /** Interval of comments; another one than KEEP_ALIVE_MILLISECONDS in tests. */
  readonly keepAliveMilliseconds?: number;
}

/** Returns an answer that sends events as they happen (server-sent events, WHATWG HTML, 9.2). */
export function eventStream({ run, onDisconnect, keepAliveMilliseconds }: StreamOptions): Response {
  let isOpen = true;
  let keepAlive: Timer | undefined;
  const end = () => {
    isOpen = false;
    clearInterval(keepAlive);
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (bytes: Uint8Array) => {
        if (isOpen) controller.enqueue(bytes);
      };
      // The first bytes also send the headers, for which some clients wait only some minutes.
      write(comment);
      keepAlive = setInterval(() => write(comment), keepAliveMilliseconds ?? KEEP_ALIVE_MILLISECONDS);
      const send: SendEvent = (event) => {
        const name = event.type === "error" ? "event: error\n" : "";
        write(encoder.encode(`${name}data: ${JSON.stringify(event)}\n\n`));
      };
      void run(send).finally(() => {
        if (isOpen) controller.close();
        end();
      });
    },
    cancel() {
      end();
      onDisconnect();
    },
  });
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream; charset=utf-8", "X-Accel-Buffering": "no" },
  });
}
