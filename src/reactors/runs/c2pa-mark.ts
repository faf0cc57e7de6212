import type { C2pa } from '../../../schemas/account-events.ts'

/**
 * Looks for a C2PA manifest in a file as it streams past. In every format, a manifest store is a box that begins with
 * this name and type: C2PA specification 2.1, section 11.1.4. The manifest is not verified.
 */
export class C2paMark {
  #isFound = false
  /** The last bytes, in which the mark may have begun. */
  #end: Uint8Array = Buffer.alloc(0)

  get presence(): C2pa {
    return this.#isFound ? 'present' : 'absent'
  }

  update(chunk: Uint8Array): void {
    if (this.#isFound) return
    const { buffer, byteOffset, byteLength } = chunk
    const seam = Buffer.concat([this.#end, chunk.subarray(0, MARK.length - 1)])
    this.#isFound = seam.includes(MARK) || Buffer.from(buffer, byteOffset, byteLength).includes(MARK)
    this.#end = (byteLength < MARK.length ? seam : Buffer.from(chunk.subarray(1 - MARK.length))).subarray(
      1 - MARK.length,
    )
  }
}

const MARK = Buffer.from('6a756d64' + '63327061' + '00110010800000aa00389b71', 'hex')
