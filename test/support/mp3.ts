/** The frames of an MP3 file, without its tag, whose length has seven bits a byte: https://id3.org/id3v2.3.0 */
export const mp3Frames = (file: Buffer): Buffer =>
  file.toString('latin1', 0, 3) === 'ID3'
    ? file.subarray(10 + file.subarray(6, 10).reduce((sum, byte) => sum * 128 + byte, 0))
    : file
