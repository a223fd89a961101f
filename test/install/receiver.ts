import { dlopen, FFIType, ptr } from "bun:ffi";

/** The service manager's side of sd_notify(3): a Unix datagram socket that is read without waiting. */
export class Receiver implements Disposable {
  readonly #socket: number;
  readonly #libc = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    recv: { args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32], returns: FFIType.i64 },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  });
  readonly #buffer = new Uint8Array(4096);
  readonly #seen: string[] = [];

  /** @param address a path, or `@` and a name in the abstract namespace */
  constructor(address: string) {
    this.#socket = this.#libc.symbols.socket(1, 2, 0);
    const name = new Uint8Array([
      1,
      0,
      ...Buffer.from(address.replace(/^@/, "\0")),
      ...(address[0] === "@" ? [] : [0]),
    ]);
    if (this.#libc.symbols.bind(this.#socket, ptr(name), name.length) !== 0) throw new Error(`can't bind ${address}`);
  }

  /** Returns the messages so far, each as its lines. */
  get messages(): readonly (readonly string[])[] {
    const dontWait = 0x40;
    for (;;) {
      const length = Number(
        this.#libc.symbols.recv(this.#socket, ptr(this.#buffer), BigInt(this.#buffer.length), dontWait),
      );
      if (length < 0) return this.#seen.map((message) => message.split("\n"));
      this.#seen.push(Buffer.from(this.#buffer.subarray(0, length)).toString());
    }
  }

  [Symbol.dispose](): void {
    this.#libc.symbols.close(this.#socket);
    this.#libc.close();
  }
}
