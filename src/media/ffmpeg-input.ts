// Demuxers of the formats that people send. What is left out on purpose: everything that opens other files or addresses
// (hls, dash, concat, imf, image sequences, sdp, rtsp, …), pictures, subtitles, game music, and headerless formats that
// ffmpeg knows only by a file's extension, which a stored upload hasn't got.
const DEMUXERS = [
  "aac,ac3,aiff,amr,ape,asf,au,avi,caf,dsf,dss,dts,eac3,flac,flv,gsm,iff,loas,matroska,webm,mlp,mov,mp4,m4a,3gp,3g2",
  "mp3,mpc,mpc8,mpeg,mpegts,mxf,nistsphere,ogg,oma,qcp,rm,tak,truehd,tta,voc,w64,wav,wv",
].join(",");

// Audio decoders only: the codec parameters of a picture track are then never looked for, so a hostile video stream or
// cover image meets no decoder at all. Decoders of games and of formats that the list above can't hold are left out.
const DECODERS = [
  "aac,aac_fixed,aac_latm,ac3,ac3_fixed,alac,als,amrnb,amrwb,ape,aptx,aptx_hd,atrac1,atrac3,atrac3al,atrac3plus,atrac3plusal",
  "g722,g726,g726le,adpcm_ima_oki,adpcm_ima_qt,adpcm_ima_wav,adpcm_ms,adpcm_swf,adpcm_yamaha",
  "cook,dca,dolby_e,dsd_lsbf,dsd_lsbf_planar,dsd_msbf,dsd_msbf_planar,dss_sp,dst,eac3,evrc,flac,g723_1,g728,g729,gsm,gsm_ms",
  "ilbc,libilbc,libgsm,libgsm_ms,libopencore_amrnb,libopencore_amrwb,libopus,libspeex,libvorbis,mace3,mace6,metasound,mlp",
  "mp1,mp1float,mp2,mp2float,mp3,mp3float,mp3adu,mp3adufloat,mp3on4,mp3on4float,mpc7,mpc8,nellymoser,opus,qcelp,qdm2,qdmc",
  "pcm_alaw,pcm_bluray,pcm_dvd,pcm_f16le,pcm_f24le,pcm_f32be,pcm_f32le,pcm_f64be,pcm_f64le,pcm_mulaw,pcm_s16be",
  "pcm_s16be_planar,pcm_s16le,pcm_s16le_planar,pcm_s24be,pcm_s24le,pcm_s24le_planar,pcm_s32be,pcm_s32le,pcm_s32le_planar",
  "pcm_s64be,pcm_s64le,pcm_s8,pcm_s8_planar,pcm_u16be,pcm_u16le,pcm_u24be,pcm_u24le,pcm_u32be,pcm_u32le,pcm_u8,pcm_vidc",
  "real_144,real_288,ralf,s302m,shorten,sipr,speex,tak,truehd,truespeech,tta,twinvq,vorbis,wavpack",
  "wmalossless,wmapro,wmav1,wmav2,wmavoice",
].join(",");

/**
 * The arguments that open one stored file as input: no protocol but file, the demuxers and decoders above, one thread
 * (the memory limit counts what every thread reserves). The `file:` prefix keeps a name like `concat:…` or `-f` a name.
 */
export function inputArguments(path: string): string[] {
  return [
    ...["-protocol_whitelist", "file", "-format_whitelist", DEMUXERS, "-codec_whitelist", DECODERS],
    // Three microphones on three channels are no 2.1 layout, whose third would be dropped as bass: guess mono and stereo only.
    ...["-guess_layout_max", "2", "-threads", "1", "-i", `file:${path}`],
  ];
}

/** 1 GiB; decoding the test corpus takes under 0.3 GiB of address space, most of it not memory. */
export const MEMORY_LIMIT_BYTES = 1 << 30;

/** How ffmpeg ends past that limit: the low byte of its negated ENOMEM. Versions before 6 end with 1 and only say it. */
export const EXIT_OUT_OF_MEMORY = 256 - 12;
