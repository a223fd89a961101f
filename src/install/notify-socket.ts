import { dlopen, FFIType, ptr } from "bun:ffi";

/** Sends one message of sd_notify(3), lines of `NAME=value`, and returns whether the socket took it. */
export type Notify = (lines: readonly string[]) => boolean;

// Constants of Linux: AF_UNIX, SOCK_DGRAM with SOCK_CLOEXEC, and MSG_DONTWAIT with MSG_NOSIGNAL.
const AF_UNIX = 1;
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000;
const MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
/** Maximum length of a path in sockaddr_un(7), after two bytes of family and before the terminating zero. */
const MAX_PATH_BYTES = 107;

/**
 * Returns a sender to the socket that a service manager names in NOTIFY_SOCKET; null when the socket cannot be used.
 * Neither Bun nor Node sends Unix datagrams, so the functions of libc are called. A full socket drops the message and
 * never blocks: a service manager that hangs must not hang the server.
 * @param address a path, or a name after `@` in Linux's abstract namespace
 */
export function notifySocket(address: string): Notify | null {
  const name = Buffer.from(address);
  if (process.platform !== "linux" || !/^[/@]/.test(address) || name.length > MAX_PATH_BYTES) return null;
  const abstract = address.startsWith("@");
  if (abstract) name[0] = 0;
  const family = new Uint8Array(new Uint16Array([AF_UNIX]).buffer);
  // The address length marks the end of an abstract name; a path ends with a zero.
  const destination = Buffer.concat([family, name, abstract ? Buffer.alloc(0) : Buffer.alloc(1)]);
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
  });
  const socket = symbols.socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0);
  if (socket < 0) return null;
  return (lines) => {
    const message = Buffer.from(lines.join("\n"));
    const sent = symbols.sendto(
      socket,
      ptr(message),
      BigInt(message.length),
      MSG_DONTWAIT_NOSIGNAL,
      ptr(destination),
      destination.length,
    );
    return Number(sent) === message.length;
  };
}
