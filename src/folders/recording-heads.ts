/** Length of the beginning of a file that `looksLikeRecording` needs. */
export const RECORDING_HEAD_BYTES = 512;

/** Beginnings of the formats that ffmpeg reads here (native/ffmpeg/formats.ts), one character for each byte. */
const BEGINNINGS = [
  ...["OggS", "fLaC", "ID3", "ADIF", "#!AMR", "MAC ", ".snd", "caff", "DSD ", "FRM8", "FLV\x01", "MP+", "MPCK", "wvpk"],
  ...["NIST_1A", "EA3", "ea3\x03", ".RMF", ".ra\xfd", "tBaK", "TTA1", "TTA2", "Creative Voice File"],
  // Wave64, dictation machines.
  ...["riff\x2e\x91\xcf\x11", "\x02dss", "\x03ds2"],
  // Matroska and WebM, ASF, MXF, MPEG program stream.
  ...["\x1a\x45\xdf\xa3", "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "\x06\x0e\x2b\x34", "\x00\x00\x01\xba"],
  // AC-3 and E-AC-3, DTS in its forms.
  ...["\x0b\x77", "\x77\x0b", "\x7f\xfe\x80\x01", "\xfe\x7f\x01\x80", "\x1f\xff\xe8\x00", "\xff\x1f\x00\xe8", "dX %"],
];

const HEADS: readonly RegExp[] = [
  // RIFF and IFF also hold pictures.
  /^(?:RIFF|RIFX|RF64|BW64)....(?:WAVE|AVI |QLCM|CDXA)/s,
  /^FORM....(?:AIF[FC]|8SVX|16SV|MAUD)/s,
  // MP4 and QuickTime. Pictures have the same container.
  /^....(?:ftyp(?!heic|heix|heim|heis|hevc|mif1|msf1|avif|avis)|moov|mdat|wide|skip|free|pnot)/s,
  // Packets of an MPEG transport stream, also with a time before each one.
  /^G.{187}G/s,
  /^.{4}G.{191}G/s,
  // Frames of MP3, AAC, LATM, MLP and TrueHD. FF FE is also the beginning of a text in UTF-16.
  /^\xff[\xe2-\xfd]/,
  /^V[\xe0-\xff]/,
  /^.{4}\xf8ro[\xba\xbb]/s,
];

/**
 * Returns whether a file seems to be a recording by its beginning, without decoding it. The name counts for nothing. A
 * recording without a header may not be recognized.
 */
export function looksLikeRecording(head: Uint8Array): boolean {
  const text = Buffer.from(head).toString("latin1");
  return BEGINNINGS.some((beginning) => text.startsWith(beginning)) || HEADS.some((pattern) => pattern.test(text));
}
