// The demuxers and decoders that read recordings. native/build-ffmpeg.ts compiles ffmpeg with exactly these, and src/media
// names them again on its command line, for a checkout that uses another ffmpeg.

/** A table from the names of ffmpeg's `configure` to those of its command line. */
type Names = Readonly<Record<string, string>>;

/**
 * Demuxers of the formats that users upload. Deliberately excluded: everything that opens other files or addresses (hls,
 * dash, concat, imf, image sequences, sdp, rtsp, …), pictures, subtitles and game music. Also excluded are headerless
 * formats that ffmpeg recognizes only by a file extension, which a stored upload does not have.
 */
export const DEMUXERS: Names = {
  ...same("aac ac3 aiff amr ape asf au avi caf dsf dss dts eac3 flac flv gsm iff loas mlp mp3 mpc mpc8 mpegts mxf"),
  ...same("nistsphere ogg oma qcp rm tak truehd tta voc w64 wav wv"),
  ...{ matroska: "matroska,webm", mov: "mov,mp4,m4a,3gp,3g2,mj2", mpegps: "mpeg" },
};

/**
 * Demuxers that no recording is opened with. A program stream (MPEG, VOB) does not name the codec of a picture track, so
 * ffmpeg guesses it among the formats that it knows; without these, it takes the picture for MP3.
 */
export const GUESSED_DEMUXERS = ["h264", "hevc", "m4v", "mpegvideo"] as const;

/**
 * Audio decoders only. ffmpeg then never probes the codec parameters of a picture track, so no decoder processes a
 * hostile video stream or cover image. Decoders of game formats and of formats that the demuxers above cannot contain
 * are excluded.
 */
export const DECODERS: Names = {
  ...same("aac aac_fixed aac_latm ac3 ac3_fixed alac als amrnb amrwb ape aptx aptx_hd atrac1 atrac3 atrac3al"),
  ...same("adpcm_ima_oki adpcm_ima_qt adpcm_ima_wav adpcm_ms adpcm_swf adpcm_yamaha cook dca dolby_e dsd_lsbf"),
  ...same("dsd_lsbf_planar dsd_msbf dsd_msbf_planar dss_sp dst eac3 evrc flac g723_1 g729 gsm gsm_ms ilbc mace3 mace6"),
  ...same("metasound mlp mp1 mp1float mp2 mp2float mp3 mp3float mp3adu mp3adufloat mp3on4 mp3on4float mpc7 mpc8"),
  ...same("nellymoser opus qcelp qdm2 qdmc ralf s302m shorten sipr speex tak truehd truespeech tta twinvq vorbis"),
  ...same("wavpack wmalossless wmapro wmav1 wmav2 wmavoice"),
  ...same(
    "pcm_alaw pcm_bluray pcm_dvd pcm_f16le pcm_f24le pcm_f32be pcm_f32le pcm_f64be pcm_f64le pcm_mulaw pcm_s16be",
  ),
  ...same("pcm_s16be_planar pcm_s16le pcm_s16le_planar pcm_s24be pcm_s24le pcm_s24le_planar pcm_s32be pcm_s32le"),
  ...same(
    "pcm_s32le_planar pcm_s64be pcm_s64le pcm_s8 pcm_s8_planar pcm_u16be pcm_u16le pcm_u24be pcm_u24le pcm_u32be",
  ),
  ...same("pcm_u32le pcm_u8 pcm_vidc"),
  ...{
    adpcm_g722: "g722",
    adpcm_g726: "g726",
    adpcm_g726le: "g726le",
    atrac3p: "atrac3plus",
    atrac3pal: "atrac3plusal",
  },
  ...{ ra_144: "real_144", ra_288: "real_288" },
};

function same(names: string): Names {
  return Object.fromEntries(names.split(" ").map((name) => [name, name]));
}

/** A replacement in ffmpeg's sources; `before` occurs exactly once in the file. */
interface Correction {
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

/** Errors of ffmpeg that are mended before it is compiled. */
export const CORRECTIONS: readonly Correction[] = [
  {
    // Speex of 16 and 32 kHz came out twice as long, each frame followed by as much silence: the header already has the
    // doubled size. The size of a frame depends on the mode alone.
    file: "libavcodec/speexdec.c",
    before: "    s->frame_size <<= (s->mode > 0);\n",
    after: "    s->frame_size = NB_FRAME_SIZE << s->mode;\n",
  },
  // The corrections below read files whose writer could not know their sizes, because it wrote to a pipe or lost power: the
  // sizes are 0, only those of the header, or the largest number. The sound then extends to the end of the file.
  { file: "libavformat/aiffdec.c", before: "        return AVERROR(EIO);\n", after: "        return AVERROR_EOF;\n" },
  { file: "libavformat/aiffdec.c", before: "        AV_RB32(p->buf + 4) >= 4 &&\n", after: "" },
  {
    file: "libavformat/aiffdec.c",
    before: "    if (filesize < 4 || tag != MKTAG('F', 'O', 'R', 'M'))\n",
    after: "    if (filesize < 0 || tag != MKTAG('F', 'O', 'R', 'M'))\n",
  },
  {
    file: "libavformat/aiffdec.c",
    before: "    filesize -= 4;\n",
    after: "    filesize = INT64_MAX;\n",
  },
  {
    file: "libavformat/aiffdec.c",
    before: "    num_frames = avio_rb32(pb);\n",
    after: lines("    num_frames = avio_rb32(pb);", "    if (num_frames > INT_MAX)", "        num_frames = 0;"),
  },
  {
    file: "libavformat/aiffdec.c",
    before: lines(
      "            if (size < 8)",
      "                return AVERROR_INVALIDDATA;",
      "            aiff->data_end = avio_tell(pb) + size;",
      "            offset = avio_rb32(pb);      /* Offset of sound data */",
    ),
    after: lines(
      "            aiff->data_end = size > 8 ? avio_tell(pb) + size : INT64_MAX;",
      "            offset = avio_rb32(pb);      /* Offset of sound data */",
    ),
  },
  {
    file: "libavformat/aiffdec.c",
    before: "            avio_skip(pb, size - 8);\n",
    after: lines(
      "            if (size <= 8)",
      "                goto got_sound;",
      "            avio_skip(pb, size - 8);",
    ),
  },
  { file: "libavformat/au.c", before: "        AV_RN32(p->buf+8)  == 0 ||\n", after: "" },
  {
    file: "libavformat/au.c",
    before: "    if (data_size != AU_UNKNOWN_SIZE)\n",
    after: "    if (data_size > 0)\n",
  },
  {
    file: "libavformat/au.c",
    before: lines(
      "        av_log(s, AV_LOG_ERROR, \"Invalid negative data size '%d' found\\n\", data_size);",
      "        return AVERROR_INVALIDDATA;",
    ),
    after: "        data_size = AU_UNKNOWN_SIZE;\n",
  },
  {
    file: "libavformat/wavdec.c",
    before: lines("                   data_size, sample_count);", "            return AVERROR_INVALIDDATA;"),
    after: lines("                   data_size, sample_count);", "            data_size = sample_count = 0;"),
  },
  {
    file: "libavformat/wavdec.c",
    before: "            if (rf64 || bw64) {\n",
    after: "            if ((rf64 || bw64) && data_size > 0) {\n",
  },
  {
    file: "libavformat/wavdec.c",
    before: lines("    if (avio_rl64(pb) < 16 + 8 + 16 + 8 + 16 + 8)", "        return AVERROR_INVALIDDATA;"),
    after: "    avio_rl64(pb);\n",
  },
  {
    file: "libavformat/cafdec.c",
    before: "            caf->data_size  = size < 0 ? -1 : size - 4;\n",
    after: lines(
      "            if (size > INT64_MAX - caf->data_start)",
      "                size = -1;",
      "            caf->data_size  = size < 0 ? -1 : size - 4;",
    ),
  },
  {
    file: "libavformat/wavdec.c",
    before: lines(
      "        if (size <= 24 || INT64_MAX - size < avio_tell(pb)) {",
      "            if (data_ofs)",
      "                break;",
    ),
    after: lines(
      "        if (size <= 24 || INT64_MAX - size < avio_tell(pb)) {",
      "            if (data_ofs)",
      "                break;",
      "            if (!memcmp(guid, ff_w64_guid_data, 16)) {",
      "                wav->data_end = INT64_MAX;",
      "                data_ofs = avio_tell(pb);",
      "                break;",
      "            }",
    ),
  },
];

function lines(...each: readonly string[]): string {
  return each.map((line) => `${line}\n`).join("");
}
