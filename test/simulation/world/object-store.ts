import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expectKey, expectKeys, expectRange } from '../../../src/adapters/object-store/checks.ts'
import { readGrant, signPut } from '../../../src/adapters/object-store/disk.ts'
import type { ByteRange, IncomingObject, ObjectStore, PutGrant, StoreOptions } from '../../../src/ports/object-store.ts'

interface Stored {
  bytes: Buffer
  contentType: string
}

/** A request to a presigned URL. */
export interface PutRequest {
  method: string
  body?: string | Uint8Array
  contentType?: string | undefined
}

const PUT_SECRET = 'a secret of the simulated store'

/** The objects of a bucket, for any number of stores. */
export class SimulatedBucket {
  readonly objects = new Map<string, Stored>()
  readonly nowMs: () => number
  /** Called with the key of each object that arrives. */
  onPut: (key: string) => void = () => undefined

  constructor(nowMs: () => number) {
    this.nowMs = nowMs
  }

  /** Handles a request to a presigned URL, as S3 does: neither type nor size are limited. Returns the status. */
  async request(address: string, { method, body = '', contentType = BINARY }: PutRequest): Promise<number> {
    const { pathname, searchParams } = new URL(address)
    const key = pathname.slice(1)
    if (method !== 'PUT' || !this.#isGranted(key, searchParams)) return 403
    this.put(key, Buffer.from(body), contentType)
    return 200
  }

  put(key: string, bytes: Buffer, contentType: string) {
    this.objects.set(key, { bytes, contentType })
    this.onPut(key)
  }

  #isGranted(key: string, query: URLSearchParams): boolean {
    try {
      return readGrant(PUT_SECRET, key, query).expiresAtMs > this.nowMs()
    } catch {
      return false
    }
  }
}

/** The object store of one process. Objects are in the bucket; incomplete ones end with the process. */
export class SimulatedObjects implements ObjectStore {
  readonly #bucket: SimulatedBucket
  readonly #arriving = new Set<IncomingObject>()

  constructor(bucket: SimulatedBucket) {
    this.#bucket = bucket
  }

  /** The number of objects that were begun, and neither stored nor discarded. */
  get arriving(): number {
    return this.#arriving.size
  }

  async put(key: string, bytes: Uint8Array, mimeType: string, { ifAbsent = false }: StoreOptions = {}) {
    expectKey(key)
    if (ifAbsent && this.#bucket.objects.has(key)) return false
    this.#bucket.put(key, Buffer.from(bytes), mimeType)
    return true
  }

  async receive(): Promise<IncomingObject> {
    const body = new PassThrough()
    const received = buffer(body)
    // A body that is destroyed is reported to whoever stores it.
    received.catch(() => undefined)
    const discard = async () => {
      body.destroy()
      this.#arriving.delete(incoming)
    }
    const store = async (key: string, mimeType: string, options?: StoreOptions) => {
      try {
        return await this.put(key, await received, mimeType, options)
      } finally {
        await discard()
      }
    }
    const incoming = { body, store, discard }
    this.#arriving.add(incoming)
    return incoming
  }

  ensureRoom() {}

  async get(key: string, range?: ByteRange) {
    const found = this.#bucket.objects.get(key)
    if (range) expectRange(range, found?.bytes.length)
    if (!found) return undefined
    const { start, end } = range ?? { start: 0, end: found.bytes.length }
    return { ...factsOf(found), body: Readable.from([found.bytes.subarray(start, end + 1)], { objectMode: false }) }
  }

  async stat(key: string) {
    const found = this.#bucket.objects.get(key)
    return found && factsOf(found)
  }

  async delete(key: string) {
    expectKey(key)
    this.#bucket.objects.delete(key)
  }

  async deleteAll(keys: readonly string[]) {
    expectKeys(keys)
    for (const key of keys) this.#bucket.objects.delete(key)
  }

  async overwrite(key: string, bytes: Uint8Array) {
    await this.put(key, bytes, 'application/octet-stream')
  }

  async presignPut(grant: PutGrant) {
    expectKey(grant.key)
    return `https://objects.example/${grant.key}?${signPut(PUT_SECRET, grant)}`
  }

  async check() {}

  async close() {
    await Promise.all([...this.#arriving].map(incoming => incoming.discard()))
  }
}

/** The type of an object that was sent without one. */
const BINARY = 'binary/octet-stream'

const factsOf = ({ bytes, contentType }: Stored) => ({
  sizeBytes: bytes.length,
  etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
  contentType,
})
