import { dlopen, FFIType, ptr } from "bun:ffi";

/** Sends one message of sd_notify(3), lines of `NAME=value`, and returns whether the socket took it. */
export type Notify = (lines: readonly string[]) => boolean;

const unixFamily = 1;
const datagramCloseOnExec = 2 | 0o2000000;
const dontWaitNoSignal = 0x40 | 0x4000;
/** Maximum length of a path in sockaddr_un(7), after two bytes of family and before the terminating zero. */
const longestPath = 107;

/**
 * Returns a sender to the socket that a service manager names in NOTIFY_SOCKET; null when the socket cannot be used.
 * Neither Bun nor Node sends Unix datagrams, so the functions of libc are called. A full socket drops the message and
 * never blocks: a service manager that hangs must not hang the server.
 * @param address a path, or a name after `@` in Linux's abstract namespace
 */
export function notifySocket(address: string): Notify | null {
  const name = Buffer.from(address);
  if (process.platform !== "linux" || !/^[/@]/.test(address) || name.length > longestPath) return null;
  const abstract = address.startsWith("@");
  if (abstract) name[0] = 0;
  const family = new Uint8Array(new Uint16Array([unixFamily]).buffer);
  // The address length marks the end of an abstract name; a path ends with a zero.
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
