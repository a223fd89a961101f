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
];
