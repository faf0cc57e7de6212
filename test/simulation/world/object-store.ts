import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type ByteRange, type IncomingObject, isObjectKey, type ObjectStore } from '../../../src/ports/object-store.ts'

interface Stored {
  bytes: Buffer
  mimeType: string
}

/** An object store in memory, for any number of processes. */
export class SimulatedObjects implements ObjectStore {
  readonly #objects = new Map<string, Stored>()

  get keys(): string[] {
    return [...this.#objects.keys()]
  }

  async put(key: string, bytes: Uint8Array, mimeType: string) {
    expectKey(key)
    this.#objects.set(key, { bytes: Buffer.from(bytes), mimeType })
  }

  async receive(): Promise<IncomingObject> {
    const body = new PassThrough()
    const received = buffer(body)
    // A body that is destroyed is reported to whoever stores it.
    received.catch(() => undefined)
    return {
      body,
      store: async (key, mimeType) => this.put(key, await received, mimeType),
      discard: async () => void body.destroy(),
    }
  }

  async get(key: string, range?: ByteRange) {
    const found = this.#objects.get(key)
    if (!found) return undefined
    const { start, end } = range ?? { start: 0, end: found.bytes.length }
    if (range && start >= found.bytes.length) throw new RangeError('the range is outside of the object')
    return { ...factsOf(found), body: Readable.from([found.bytes.subarray(start, end + 1)]) }
  }

  async stat(key: string) {
    const found = this.#objects.get(key)
    return found && factsOf(found)
  }

  async delete(key: string) {
    expectKey(key)
    this.#objects.delete(key)
  }

  async presignPut({ key }: { key: string }) {
    expectKey(key)
    return `https://objects.example/${key}`
  }

  async check() {}
  async close() {}
}

const factsOf = ({ bytes }: Stored) => ({
  sizeBytes: bytes.length,
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
})

const expectKey = (key: string) => {
  if (!isObjectKey(key)) throw new RangeError(`${key} is not the key of an object`)
}
