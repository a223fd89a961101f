import { join } from "node:path";
import { aviWithSubtitles } from "./avi.ts";
import { id3 } from "./id3.ts";
import { tone, wave } from "./wave.ts";

/** Targets of a hostile text: a file of the server, and an address that only the server can reach. */
export interface Lures {
  readonly path: string;
  readonly origin: string;
}

/** Sets up targets for hostile files: a recording in a folder, and an address that counts connections. */
export async function setLures(folder: string): Promise<Lures & Disposable & { connections(): number }> {
  let connections = 0;
  const socket = { open: () => void connections++, data() {} };
  const host = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  const path = join(folder, "secret.wav");
  await Bun.write(path, wave(tone(2)));
  const origin = `http://127.0.0.1:${host.port}`;
  return { path, origin, connections: () => connections, [Symbol.dispose]: () => host.stop(true) };
}

/** Builds files that refer to other files and addresses, by description. */
export function playlists({ path, origin }: Lures): Record<string, Buffer> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const hls = (uri: string) =>
    `#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n${uri}\n#EXT-X-ENDLIST\n`;
  const mpd = (base: string) =>
    `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S"><Period><AdaptationSet mimeType="audio/wav"><Representation id="1" bandwidth="1"><BaseURL>${base}</BaseURL></Representation></AdaptationSet></Period></MPD>`;
  const texts: Record<string, string> = {
    "hls of a file": hls(`file://${path}`),
    "hls of a path": hls(path),
    "hls of an address": hls(`${origin}/x.ts`),
    "hls of a part of a file": hls(`subfile,,start,0,end,64,,:${path}`),
    "hls of a concatenation": hls(`concat:${path}|${path}`),
    "hls with a key": `#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="${origin}/key"\n#EXTINF:10,\n${path}\n#EXT-X-ENDLIST\n`,
    "hls with a map": `#EXTM3U\n#EXT-X-MAP:URI="${path}"\n#EXTINF:10,\n${path}\n#EXT-X-ENDLIST\n`,
    "hls of playlists": `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${origin}/a.m3u8\n`,
    "hls behind a byte order mark": `\uFEFF${hls(path)}`,
    ffconcat: `ffconcat version 1.0\nfile '${path}'\n`,
    "ffconcat of an address": `ffconcat version 1.0\nfile '${origin}/x.wav'\n`,
    "concat without its heading": `file '${path}'\n`,
    dash: mpd(`file://${path}`),
    "dash of an address": mpd(`${origin}/x.wav`),
    "dash with an outside entity": `<?xml version="1.0"?><!DOCTYPE MPD [<!ENTITY x SYSTEM "file://${path}">]><MPD xmlns="urn:mpeg:dash:schema:mpd:2011">&x;</MPD>`,
    sdp: `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio ${new URL(origin).port} RTP/AVP 0\n`,
    imf: `<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Id>urn:uuid:${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}</Id><SegmentList><Segment><Path>${path}</Path></Segment></SegmentList></CompositionPlaylist>`,
    "an imf list of assets": `<?xml version="1.0"?><AssetMap xmlns="http://www.smpte-ra.org/schemas/429-9/2007/AM"><AssetList><Asset><ChunkList><Chunk><Path>${path}</Path></Chunk></ChunkList></Asset></AssetList></AssetMap>`,
    pls: `[playlist]\nFile1=${path}\nNumberOfEntries=1\n`,
    asx: `<asx version="3.0"><entry><ref href="${origin}/x.wav"/></entry></asx>`,
    smil: `<smil><body><video src="${origin}/x.mp4"/></body></smil>`,
    "a reference of Windows Media": `[Reference]\nRef1=${origin}/x.asf\n`,
    cue: `FILE "${path}" WAVE\n  TRACK 01 AUDIO\n    INDEX 01 00:00:00\n`,
    "a scene of many pictures": `${path}\n%03d.png\n`,
    "a script of avisynth": `WavSource("${path}")\n`,
    "a script of vapoursynth": `import os\nos.system("touch ${path}.run")\n`,
    svg: `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="file://${path}"/></svg>`,
    "a filter": `amovie=${path}`,
    "an index of vobsub": `# VobSub index file, v7 (do not modify this line!)\n${name}\n`,
  };
  const files = Object.entries(texts).map(([what, text]): [string, Buffer] => [what, Buffer.from(text)]);
  const behindTag = Buffer.concat([id3([["TIT2", Buffer.from("\x03x", "latin1")]]), Buffer.from(hls(path))]);
  return { ...Object.fromEntries(files), "hls behind the tag of an mp3": behindTag };
}

/** Builds AVI files with a second of silence whose subtitles contain such a file. */
export function playlistsInAvi(lures: Lures): Record<string, Buffer> {
  const inside = Object.entries(playlists(lures)).map(([what, bytes]) => {
    return [`avi with ${what}`, aviWithSubtitles(bytes.toString())] as const;
  });
  return Object.fromEntries(inside);
}
