import { dlopen, FFIType, ptr } from "bun:ffi";

/** Sends one message of sd_notify(3): lines of `NAME=value`. Returns whether the service manager took it. */
export type Notify = (lines: readonly string[]) => boolean;

const unixFamily = 1;
const datagramCloseOnExec = 2 | 0o2000000;
const dontWaitNoSignal = 0x40 | 0x4000;
/** sockaddr_un(7): two bytes of family, then the path with the zero that ends it. */
const longestPath = 107;

/**
 * A sender to the socket that a service manager names in NOTIFY_SOCKET; null where it is none we can reach. Neither Bun nor
 * Node sends unix datagrams, so the calls are libc's. A full socket drops the message, never waits: a service manager that
 * hangs must not hang the server.
 * @param address a path, or a name after `@` in Linux's abstract namespace
 */
export function notifySocket(address: string): Notify | null {
  const name = Buffer.from(address);
  if (process.platform !== "linux" || !/^[/@]/.test(address) || name.length > longestPath) return null;
  const abstract = address.startsWith("@");
  if (abstract) name[0] = 0;
  const family = new Uint8Array(new Uint16Array([unixFamily]).buffer);
  // The length tells where an abstract name ends; a path ends with a zero.
  const destination = Buffer.concat([family, name, abstract ? Buffer.alloc(0) : Buffer.alloc(1)]);
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
  });
  const socket = symbols.socket(unixFamily, datagramCloseOnExec, 0);
  if (socket < 0) return null;
  return (lines) => {
    const message = Buffer.from(lines.join("\n"));
    const sent = symbols.sendto(
      socket,
      ptr(message),
      BigInt(message.length),
      dontWaitNoSignal,
      ptr(destination),
      destination.length,
    );
    return Number(sent) === message.length;
  };
}
