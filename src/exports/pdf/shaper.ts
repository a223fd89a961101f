import * as hb from "harfbuzzjs";
import type { Direction } from "../direction.ts";
import type { Face } from "./face.ts";
import type { FaceChoice, FaceRun, Weight } from "./face-choice.ts";
import { type Cluster, showOperators } from "./show-text.ts";

/** Text of one face and direction, shaped into glyphs. */
export interface ShapedRun {
  readonly face: Face;
  /** In thousandths of the font's size. */
  readonly width: number;
  /** PDF operators that show the run at font size 1 from the current point, and move that point by `width`. */
  readonly operators: string;
}

/** Maximum number of cached words for each direction and weight: as many as are spoken in days, at 300 bytes each. */
const MAX_CACHED_WORDS = 20_000;

/** A mark around a character. */
const enclosing = /\p{Me}/u;

/** Shapes text into glyphs with HarfBuzz and caches the shaped words. */
export class Shaper {
  readonly #faces: FaceChoice;
  readonly #language: string;
  readonly #buffer = new hb.Buffer();
  /** Cache of shaped runs, by direction and weight, then by text. */
  readonly #shaped = {
    ltr: { regular: new Map<string, readonly ShapedRun[]>(), bold: new Map<string, readonly ShapedRun[]>() },
    rtl: { regular: new Map<string, readonly ShapedRun[]>(), bold: new Map<string, readonly ShapedRun[]>() },
  };

  constructor(faces: FaceChoice, language: string | null) {
    this.#faces = faces;
    this.#language = language ?? "und";
  }

  /** Returns the runs of a text in visual order, from left to right. */
  shape(text: string, direction: Direction, weight: Weight): readonly ShapedRun[] {
    const shaped = this.#shaped[direction][weight];
    let runs = shaped.get(text);
    if (runs === undefined) {
      const ofFaces = this.#faces.split(text, weight);
      runs = ofFaces.map((run) => this.#shapeRun(run, direction));
      if (direction === "rtl") runs = runs.toReversed();
      if (shaped.size === MAX_CACHED_WORDS) shaped.clear();
      shaped.set(text, runs);
    }
    return runs;
  }

  #shapeRun({ text, face }: FaceRun, direction: Direction): ShapedRun {
    const clusters = this.#clusters(text, face, direction);
    const width = clusters.reduce((sum, { glyphs }) => glyphs.reduce((part, { advance }) => part + advance, sum), 0);
    return { face, width, operators: showOperators(clusters, face, direction) };
  }

  #clusters(text: string, face: Face, direction: Direction): Cluster[] {
    const buffer = this.#buffer;
    buffer.reset();
    buffer.setClusterLevel(hb.ClusterLevel.MONOTONE_GRAPHEMES);
    buffer.setFlags(hb.BufferFlag.REMOVE_DEFAULT_IGNORABLES);
    buffer.addText(text);
    buffer.guessSegmentProperties();
    buffer.setDirection(direction === "rtl" ? hb.Direction.RTL : hb.Direction.LTR);
    buffer.setLanguage(this.#language);
    hb.shape(face.font, buffer);
    const infos = buffer.getGlyphInfos();
    const positions = buffer.getGlyphPositions();
    const starts = [...new Set(infos.map((info) => info.cluster))].sort((a, b) => a - b);
    const ends = new Map(starts.map((start, index) => [start, starts[index + 1] ?? text.length]));
    const clusters: Cluster[] = [];
    let clusterStart = -1;
    infos.forEach((info, index) => {
      const position = positions[index];
      if (info.cluster !== clusterStart || clusters.length === 0) {
        clusterStart = info.cluster;
        clusters.push({ text: text.slice(clusterStart, ends.get(clusterStart)), glyphs: [] });
      }
      clusters.at(-1)?.glyphs.push({
        glyphId: info.codepoint,
        advance: (position?.xAdvance ?? 0) * face.scale,
        offsetX: (position?.xOffset ?? 0) * face.scale,
        offsetY: (position?.yOffset ?? 0) * face.scale,
      });
    });
    for (const { text: shown, glyphs } of clusters) if (enclosing.test(shown)) makeRoom(glyphs, face);
    return clusters;
  }
}

/** Widens a cluster by the parts of its glyphs that lie outside, where they would cover its neighbours. */
function makeRoom(glyphs: Cluster["glyphs"], face: Face): void {
  let pen = 0;
  let [left, right] = [0, 0];
  for (const { glyphId, advance, offsetX } of glyphs) {
    const { xBearing = 0, width = 0 } = face.font.glyphExtents(glyphId) ?? {};
    left = Math.min(left, pen + offsetX + xBearing * face.scale);
    right = Math.max(right, pen + offsetX + (xBearing + width) * face.scale);
    pen += advance;
  }
  const last = glyphs.length - 1;
  glyphs.forEach((glyph, index) => {
    const advance = glyph.advance + (index === last ? Math.max(right, pen) - pen - left : 0);
    glyphs[index] = { ...glyph, offsetX: glyph.offsetX - left, advance };
  });
}
