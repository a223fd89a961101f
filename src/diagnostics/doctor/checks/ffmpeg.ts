import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Confinement,
  decodeRecording,
  PCM_SAMPLE_RATE_HZ,
  parseConfinement,
  wavHeader,
} from "../../../media/index.ts";
import { messageOf } from "../../../text/index.ts";
import { type Check, ok, problem, skipped, unpackAgain, warning } from "../check.ts";
import { filesOf } from "../context.ts";
import type { Machine } from "../machine.ts";

const program: Check = {
  id: "ffmpeg.program",
  title: "ffmpeg",
  explanation:
    "ffmpeg decodes the recordings that clients send. This check starts it and reads its version and its licence, which depends on how it was built.",
  async run(context) {
    const { ffmpeg } = filesOf(context);
    const answer = await context.machine.run([ffmpeg, "-hide_banner", "-version"]);
    const version = /^ffmpeg version (\S+)/m.exec(answer?.output ?? "")?.[1];
    if (answer === null || answer.exitCode !== 0 || version === undefined) {
      return problem("ffmpeg does not run, so no recording can be decoded", {
        detail: [`${ffmpeg}: ${answer?.output.trim().split("\n")[0] || "it can't be started"}`],
        advice: `Check that its file system is not mounted noexec. ${unpackAgain}`,
      });
    }
    const has = (option: string) => answer.output.includes(`--enable-${option}`);
    if (has("nonfree")) {
      return warning(`version ${version}, built with parts that nobody may distribute`, {
        advice: "It works. Do not give this copy to anybody else; other builds of ffmpeg have no such limit.",
      });
    }
    const licence = `${has("gpl") ? "GPL" : "LGPL"} ${has("version3") ? "3" : has("gpl") ? "2" : "2.1"} or later`;
    return ok(`version ${version}, ${licence}`);
  },
};

/** Formats by common name, each with the demuxer and the decoders (any of them is enough) by their names in ffmpeg. */
const knownFormats: readonly (readonly [string, string, string])[] = [
  ["WAV", "wav", "pcm_s16le"],
  ["MP3", "mp3", "mp3float|mp3"],
  ["M4A and MP4", "mov", "aac"],
  ["Apple Lossless", "mov", "alac"],
  ["FLAC", "flac", "flac"],
  ["Ogg Vorbis", "ogg", "vorbis|libvorbis"],
  ["Opus and WebM", "matroska", "opus|libopus"],
  ["telephone recordings (AMR)", "amr", "amrnb|libopencore_amrnb"],
  ["Windows Media", "asf", "wmav2"],
];

const formats: Check = {
  id: "ffmpeg.formats",
  title: "Formats",
  explanation:
    "Whether this ffmpeg was built with the common containers and codecs: MP3, M4A and MP4, WAV, FLAC, Ogg, Opus and WebM, AMR, Windows Media.",
  async run(context) {
    const { ffmpeg } = filesOf(context);
    const [demuxers, decoders] = await Promise.all([
      context.machine.run([ffmpeg, "-hide_banner", "-demuxers"]),
      context.machine.run([ffmpeg, "-hide_banner", "-decoders"]),
    ]);
    if (demuxers?.exitCode !== 0 || decoders?.exitCode !== 0) {
      return problem("ffmpeg does not list its formats", { advice: "See ffmpeg.program." });
    }
    const readable = namesIn(demuxers.output);
    const decodable = namesIn(decoders.output);
    const missing = knownFormats
      .filter(([, demuxer, codecs]) => !readable.has(demuxer) || !codecs.split("|").some((name) => decodable.has(name)))
      .map(([name]) => name);
    if (missing.length === 0) return ok(knownFormats.map(([name]) => name).join(", "));
    return warning(`it can't read ${missing.join(", ")}`, {
      advice:
        "Files in these formats are refused because they are not recognized as recordings. Use a full build of ffmpeg.",
    });
  },
};

/** Parses a list that ffmpeg prints. Each line has flags, comma-separated names and a description. */
function namesIn(output: string): Set<string> {
  return new Set(output.split("\n").flatMap((line) => /^ \S+\s+(\S+)/.exec(line)?.[1]?.split(",") ?? []));
}

const decode: Check = {
  id: "ffmpeg.decode",
  title: "Decoding",
  explanation:
    "One second of audio is decoded like a recording: confined, with limits on memory and time, to 16 kHz mono. This needs a directory for temporary files, not the data directory.",
  heavy: true,
  async run(context) {
    const directory = await mkdtemp(join(tmpdir(), "transcribe-doctor-")).catch(() => null);
    if (directory === null) return skipped(`no temporary file can be created in ${tmpdir()}; set TMPDIR`);
    const advice =
      "If ffmpeg.program is fine, the confinement stops it: check the memory limits of the service or container (ffmpeg reserves up to 1 GiB of address space) and ffmpeg.confinement.";
    try {
      const inputPath = join(directory, "tone.wav");
      await writeFile(inputPath, toneFile());
      const { sampleCount } = await decodeRecording({
        ffmpegPath: filesOf(context).ffmpeg,
        inputPath,
        outputPath: join(directory, "tone.pcm"),
        maxSeconds: 10,
        signal: context.signal,
      });
      const seconds = sampleCount / PCM_SAMPLE_RATE_HZ;
      if (Math.abs(seconds - 1) <= 0.01) return ok("one second of audio was decoded to one second");
      return problem(`one second of audio was decoded to ${seconds.toFixed(2)} s`, { advice });
    } catch (error) {
      context.signal.throwIfAborted();
      return problem("a recording can't be decoded", { detail: [messageOf(error)], advice });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** Returns one second of a 440 Hz tone as a WAV file: 44.1 kHz, 16 bits, mono. */
function toneFile(): Buffer {
  const rate = 44_100;
  const samples = Int16Array.from({ length: rate }, (_, index) => 8000 * Math.sin((2 * Math.PI * 440 * index) / rate));
  return Buffer.concat([wavHeader(samples.byteLength, rate), new Uint8Array(samples.buffer)]);
}

const confinement: Check = {
  id: "ffmpeg.confinement",
  title: "Confinement of ffmpeg",
  explanation:
    "A hostile recording may attack ffmpeg. Therefore ffmpeg can open only its input, its outputs and the system's libraries (Landlock), and has a fixed list of system calls without sockets and new processes (seccomp), an empty network namespace, at most 64 threads, no new privileges, and limits on memory, time and output. This check applies them to a process, which reports what is active. Landlock needs Linux 5.13; the namespace and the thread limit need a kernel that lets users create user namespaces.",
  async run(context) {
    const { machine } = context;
    const answer = await machine.run([filesOf(context).confine, "--report"]);
    const confinement = parseConfinement(answer?.output ?? "");
    if (confinement === null) {
      return problem("the program that confines ffmpeg does not run, so no recording can be decoded", {
        detail: [answer?.output.trim().split("\n")[0] || "it can't be started"],
        advice: unpackAgain,
      });
    }
    const active = parts.filter(({ isActive }) => isActive(confinement)).map(({ name }) => name);
    const inactive = parts.filter(({ isActive }) => !isActive(confinement));
    const detail = [
      ...inactive.map(({ name, otherwise }) => `not active: ${name}; ${otherwise}`),
      ...(inactive.length === 0 ? [] : reasonsFor(machine, confinement)),
    ];
    const summary = [...active, "no new privileges, limits on memory, time and output"].join(", ");
    if (confinement.landlock > 0 && confinement.seccomp) return ok(summary, ...detail);
    return warning(`ffmpeg is confined only in part: ${summary}`, {
      detail,
      advice:
        "Use a kernel with Landlock and seccomp, and a container engine whose seccomp profile allows Landlock's system calls (Docker 23 and Podman 4 do). Otherwise give the container or service no files and no network that it does not need.",
    });
  },
};

/** The parts of the confinement, with the consequence if one is not active. */
const parts: readonly { name: string; isActive: (confinement: Confinement) => boolean; otherwise: string }[] = [
  {
    name: "only its own files (Landlock)",
    isActive: ({ landlock }) => landlock > 0,
    otherwise: "ffmpeg can open every file that its user can",
  },
  {
    name: "no sockets and no new processes (seccomp)",
    isActive: ({ seccomp }) => seccomp,
    otherwise: "ffmpeg can make every system call that its user can",
  },
  {
    name: "an empty network namespace",
    isActive: ({ networkNamespace }) => networkNamespace,
    otherwise: "seccomp refuses sockets if it is active",
  },
  {
    name: "at most 64 threads",
    isActive: ({ threadLimit }) => threadLimit,
    otherwise: "the memory limit bounds them; root has no thread limit",
  },
];

/** Returns the settings of the kernel that explain why a part is not active. */
function reasonsFor(machine: Machine, { landlock }: Confinement): string[] {
  const value = (path: string) => machine.read(path)?.trim();
  const modules = value("/sys/kernel/security/lsm");
  const lacksLandlock = landlock === 0 && modules !== undefined && !modules.split(",").includes("landlock");
  const settings = [
    ["kernel.unprivileged_userns_clone", "0", ""],
    ["user.max_user_namespaces", "0", ""],
    ["kernel.apparmor_restrict_unprivileged_userns", "1", " (Ubuntu 23.10 and later)"],
  ] as const;
  return [
    ...(lacksLandlock ? ["landlock is not among the kernel's security modules (lsm= on its command line)"] : []),
    ...settings
      .filter(([name, refusing]) => value(`/proc/sys/${name.replaceAll(".", "/")}`) === refusing)
      .map(([name, refusing, note]) => `${name} is ${refusing}${note}`),
  ];
}

export const ffmpegChecks = [program, formats, decode, confinement];
