import type { ArrivingFile, Media, OpenFile } from '../../../src/ports/provider.ts'

/** A file that keeps its bytes. */
class KeptFile implements ArrivingFile {
  bytes = Buffer.alloc(0)

  async write(bytes: Uint8Array) {
    this.bytes = Buffer.concat([this.bytes, bytes])
  }

  async end() {}
}

export const openFile: OpenFile = () => new KeptFile()

/** The bytes of a file, however it came. */
export const bytesOf = (media: Partial<Omit<Media, 'mimeType'>> | undefined): Buffer => {
  if (media && 'file' in media) return (media.file as KeptFile).bytes
  return Buffer.from(media && 'bytes' in media ? (media.bytes as Uint8Array) : [])
}
