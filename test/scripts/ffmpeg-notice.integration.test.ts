import { describe, expect, test } from "bun:test";
import { ffmpegNotice } from "../../scripts/support/build/ffmpeg-notice.ts";
import { pinnedFfmpegDigests } from "../../scripts/support/ffmpeg.ts";
import { type BuildInfo, buildInfo } from "../../src/program/index.ts";

const build = async (ffmpeg: string): Promise<BuildInfo> => ({ ...(await buildInfo()), ffmpeg });
const report = {
  version: "ffmpeg version n9.0-1-gabc1234\nconfiguration: --enable-gpl --enable-version3",
  licence: "ffmpeg is free software; you can redistribute it under version 3 of the License",
};

describe("the notice of ffmpeg", () => {
  test.each(Object.entries(pinnedFfmpegDigests))(
    "of the pinned build for %s names it, its origin and its licence",
    async (_, sha256) => {
      const notice = ffmpegNotice(await build("n9.0-1-gabc1234"), report, sha256);
      expect(notice).toMatchObject({ licence: "GPL-3.0-or-later", source: expect.stringContaining("BtbN") });
      for (const part of [sha256, report.version, "commit abc1234", "imageio-ffmpeg", "GNU GENERAL PUBLIC LICENSE"]) {
        expect(notice.text).toContain(part);
      }
    },
  );

  test.each(["a".repeat(64), "unknown"])(
    "of another build, SHA-256 %s, claims no origin and no licence",
    async (sha256) => {
      const notice = ffmpegNotice(await build("n9.0-1-gabc1234"), report, sha256);
      expect(notice).toMatchObject({ licence: "as it reports below", source: "unknown" });
      expect(notice.text).toContain(sha256);
      expect(notice.text).toContain(report.version);
      for (const claim of ["BtbN", "imageio", "commit abc1234", "GNU GENERAL PUBLIC LICENSE"]) {
        expect(notice.text).not.toContain(claim);
      }
    },
  );
});
