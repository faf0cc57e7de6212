import { createCanvas, loadImage } from '@napi-rs/canvas'

/** The pixels of a picture, without the rest of its file. */
export const pixelsOf = async (file: Buffer): Promise<Buffer> => {
  const image = await loadImage(file)
  const canvas = createCanvas(image.width, image.height)
  canvas.getContext('2d').drawImage(image, 0, 0)
  return Buffer.from(canvas.data())
}
