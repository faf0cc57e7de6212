import type { Readable, Writable } from 'node:stream'

/**
 * Where results and uploads lie, by key. A key is `<folder>/<random bits>.<ending>`: see `isObjectKey`. Whatever the store cannot do
 * now rejects with Unavailable. What writes, deletes or signs rejects with RangeError for a text that is no key; for what
 * reads there is no such object.
 */
export interface ObjectStore {
  /** Stores an object, and resolves when it is durable. Storing the same key again replaces it. */
  put(key: string, bytes: Uint8Array, mimeType: string): Promise<void>
  /** Takes in an object piece by piece. Nobody sees it before it is stored, and there is no trace of one that is discarded. */
  receive(): Promise<IncomingObject>
  /**
   * An object's bytes as a stream, all or a part of them; undefined when there is none. An end behind the last byte ends
   * with it; a start behind it is a RangeError. Whoever does not read the stream to its end destroys it.
   */
  get(key: string, range?: ByteRange): Promise<StoredObject | undefined>
  stat(key: string): Promise<ObjectFacts | undefined>
  /** Takes an object away for good. That there is none is fine. */
  delete(key: string): Promise<void>
  /** An address to which whoever has it may PUT one object, until the time is over. What comes is for the reader to check. */
  presignPut(grant: PutGrant): Promise<string>
  /** Takes what is sent to such an address. Only stores have it that are no servers themselves. Rejects with PutRefused. */
  acceptPut?(put: IncomingPut): Promise<void>
  /** Whether the store answers. */
  check(): Promise<void>
  close(): Promise<void>
}

export interface ObjectFacts {
  sizeBytes: number
  /** Differs when the bytes do, as HTTP has it, with its quotes. */
  etag: string
  /** The type that it was sent as, where the store serves it as that by itself. */
  contentType?: string | undefined
}

/** `sizeBytes` is that of the whole object. */
export interface StoredObject extends ObjectFacts {
  body: Readable
}

/** The first and the last byte that are wanted, counted from 0. */
export interface ByteRange {
  start: number
  end: number
}

/** An object on its way in. One of `store` and `discard` is called once, when the body has ended or was destroyed. */
export interface IncomingObject {
  readonly body: Writable
  /** Resolves when the object is durable under its key. */
  store(key: string, mimeType: string): Promise<void>
  /** Leaves nothing behind. Never rejects. */
  discard(): Promise<void>
}

export interface PutGrant {
  key: string
  mimeType: string
  maxSizeBytes: number
  /** Milliseconds since 1970. */
  expiresAtMs: number
}

/** A PUT as it came: the key in its address, the query, and what is sent. */
export interface IncomingPut {
  key: string
  query: URLSearchParams
  mimeType: string | undefined
  /** As announced; undefined when nothing was. */
  sizeBytes: number | undefined
  body: Readable
}

/** A PUT that the address does not allow. */
export class PutRefused extends Error {
  override name = 'PutRefused'
  readonly reason: 'forbidden' | 'expired' | 'too_large' | 'other_type' | 'broken_off'

  constructor(reason: PutRefused['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/** What keys begin with. */
export type Folder = 'uploads' | 'outputs'

/** What a key may look like: a folder, and a name that cannot lead out of it. */
export const isObjectKey = (text: string) => /^[a-z]{1,32}\/[0-9a-f]{32}\.[a-z0-9]{1,8}$/.test(text)
