#!/usr/bin/env python3
"""A file system in memory that stops answering while a file exists: MOUNT-POINT FLAG-FILE.

It keeps the requests that it reads meanwhile, as the kernel does for a network file system whose server is gone: the
processes that wait for them can't be killed. It answers all of them when the flag file is gone. It implements as much
of the kernel's protocol (linux/fuse.h, version 7.31) as a watched folder needs, and no hard links, as many network file
systems. SIGTERM unmounts it, and so does the exit of the parent process.
"""
import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys
import time

MOUNT_POINT, FLAG = sys.argv[1:]
LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME = 1, 2, 3, 4, 9, 10, 11, 12
OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR = 14, 15, 16, 17, 18, 20, 25, 26, 27
READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, BATCH_FORGET, RENAME2 = 28, 29, 30, 35, 36, 42, 45
MAX_WRITE = 1 << 17
PR_SET_PDEATHSIG, MNT_DETACH = 1, 2

libc = ctypes.CDLL(None, use_errno=True)


class Node:
    """A file, or a directory if it has entries."""

    def __init__(self, number, mode):
        self.number, self.mode, self.user, self.group = number, mode, 0, 0
        self.content, self.entries, self.parent = bytearray(), {}, None
        self.modified = time.time_ns()

    def attributes(self):
        seconds, rest = divmod(self.modified, 10**9)
        sizes = (self.number, len(self.content), (len(self.content) + 511) // 512)
        times = (seconds, seconds, seconds, rest, rest, rest)
        return struct.pack("<6Q10I", *sizes, *times, self.mode, 1, self.user, self.group, 0, 4096, 0)


root = Node(1, stat.S_IFDIR | 0o777)
nodes = {1: root}


def entry(node):
    # No validity: the kernel asks each time.
    return struct.pack("<4Q2I", node.number, 0, 0, 0, 0, 0) + node.attributes()


def add(parent, name, mode):
    if name in parent.entries:
        raise OSError(errno.EEXIST, "")
    node = nodes[max(nodes) + 1] = Node(max(nodes) + 1, mode)
    parent.entries[name] = node
    return node


def named(parent, name):
    if name not in parent.entries:
        raise OSError(errno.ENOENT, "")
    return parent.entries[name]


def change(node, body):
    valid, _, _, size, _, _, modified, _, _, nanoseconds, _, mode, _, user, group, _ = struct.unpack_from("<2I6Q8I", body)
    if valid & 1:
        node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
    if valid & 2:
        node.user = user
    if valid & 4:
        node.group = group
    if valid & 8:
        node.content = node.content[:size].ljust(size, b"\0")
        node.modified = time.time_ns()
    if valid & 32:
        node.modified = time.time_ns() if valid & 256 else modified * 10**9 + nanoseconds


def listing(node, offset, size):
    answer = b""
    for position, (name, child) in enumerate(list(node.entries.items())):
        if position < offset:
            continue
        # The type is 0, unknown, as on file systems that do not store it in directories.
        record = struct.pack("<2Q2I", child.number, position + 1, len(name), 0) + name
        record += b"\0" * (-len(record) % 8)
        if len(answer) + len(record) > size:
            break
        answer += record
    return answer


def answer_to(code, node, body):
    """Returns the answer to a request; raises OSError."""
    if code == INIT:
        return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, 0, 16, 12, MAX_WRITE, 1, 32, 0, *[0] * 8)
    if code == LOOKUP:
        return entry(named(node, body[:-1]))
    if code == GETATTR:
        return struct.pack("<Q2I", 0, 0, 0) + node.attributes()
    if code == SETATTR:
        change(node, body)
        return struct.pack("<Q2I", 0, 0, 0) + node.attributes()
    if code == MKDIR:
        return entry(add(node, body[8:-1], stat.S_IFDIR | stat.S_IMODE(struct.unpack_from("<I", body)[0])))
    if code in (UNLINK, RMDIR):
        named(node, body[:-1])
        del node.entries[body[:-1]]
        return b""
    if code in (RENAME, RENAME2):
        header = 8 if code == RENAME else 16
        old, new = body[header:-1].split(b"\0")
        target = nodes[struct.unpack_from("<Q", body)[0]]
        target.entries[new] = named(node, old)
        if (target, new) != (node, old):
            del node.entries[old]
        return b""
    if code in (OPEN, OPENDIR):
        return struct.pack("<Q2I", 0, 0, 0)
    if code == CREATE:
        created = add(node, body[16:-1], stat.S_IFREG | stat.S_IMODE(struct.unpack_from("<2I", body)[1]))
        return entry(created) + struct.pack("<Q2I", 0, 0, 0)
    if code == READ:
        _, offset, size = struct.unpack_from("<2QI", body)
        return bytes(node.content[offset : offset + size])
    if code == WRITE:
        _, offset, size = struct.unpack_from("<2QI", body)
        node.content[offset : offset + size] = body[40 : 40 + size]
        node.modified = time.time_ns()
        return struct.pack("<2I", size, 0)
    if code == READDIR:
        _, offset, size = struct.unpack_from("<2QI", body)
        return listing(node, offset, size)
    if code == STATFS:
        return struct.pack("<5Q10I", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0, *[0] * 6)
    if code in (RELEASE, RELEASEDIR, FLUSH, FSYNC, FSYNCDIR):
        return b""
    raise OSError(errno.ENOSYS, "")


def answer(device, request):
    _, code, unique, number, _, _, _, _ = struct.unpack_from("<2I2Q4I", request)
    if code in (FORGET, BATCH_FORGET, INTERRUPT):
        return
    error, content = 0, b""
    try:
        content = answer_to(code, nodes.get(number, root), request[40:])
    except OSError as failure:
        error = -failure.errno
    try:
        os.write(device, struct.pack("<IiQ", 16 + len(content), error, unique) + content)
    except FileNotFoundError:
        pass  # The process that asked is gone.


def unmount(*_):
    libc.umount2(os.fsencode(MOUNT_POINT), MNT_DETACH)
    # Closing the device ends all requests that wait.
    os._exit(0)


def serve():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGTERM, unmount)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"hanging-disk", os.fsencode(MOUNT_POINT), b"fuse", 0, options.encode()) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("mounted", flush=True)
    waiting = []
    while True:
        if select.select([device], [], [], 0.01)[0]:
            try:
                waiting.append(os.read(device, MAX_WRITE + 8192))
            except OSError as failure:
                if failure.errno == errno.ENODEV:
                    return
        if not os.path.exists(FLAG):
            for request in waiting:
                answer(device, request)
            waiting = []


try:
    serve()
finally:
    unmount()
