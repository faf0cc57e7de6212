/**
 * An animated AVIF as its still picture, which every such file should have. The decoder would show the first frame
 * instead, whose size is known only from the frame itself. It decides by the brands in the file's first box.
 */
export function asStill(file: Buffer): Buffer {
  const brands = file.subarray(BRANDS_AT, Math.max(BRANDS_AT, file.readUInt32BE(0)))
  if (!brands.includes(MOVING)) return file
  const still = Buffer.from(file)
  for (let at = BRANDS_AT; at + 4 <= BRANDS_AT + brands.length; at += 4)
    if (still.toString('latin1', at, at + 4) === MOVING) still.write(STILL, at, 'latin1')
  return still
}

const BRANDS_AT = 8
const [MOVING, STILL] = ['avis', 'avif']
