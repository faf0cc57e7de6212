import type { Readable } from 'node:stream'
import type { Refusal } from '../domain/refusal.ts'
import { Unavailable } from '../ports/faults.ts'
import {
  type ByteRange,
  type IncomingPut,
  type ObjectFacts,
  type ObjectStore,
  PutRefused,
} from '../ports/object-store.ts'
import { type Answer, answer } from './answer.ts'
import type { Caller } from './caller.ts'

/** Results and uploads, for anyone who has their address. */
export class Files {
  readonly #objects: ObjectStore

  constructor(objects: ObjectStore) {
    this.#objects = objects
  }

  /** Undefined if there is no such file. */
  async stat(_caller: Caller, key: string): Promise<Answer<ObjectFacts | undefined>> {
    return answer(await this.#objects.stat(key))
  }

  /** The bytes of a file whose facts are known. Rejects with Unavailable if the file was replaced since. */
  async read(_caller: Caller, key: string, { etag }: ObjectFacts, range?: ByteRange): Promise<Answer<Readable>> {
    const object = await this.#objects.get(key, range)
    if (object?.etag === etag) return answer(object.body)
    object?.body.destroy()
    throw new Unavailable(`${key} was replaced or deleted just now`)
  }

  /** Receives a file sent to a presigned address of this service, and returns its facts. */
  async receive(_caller: Caller, put: IncomingPut): Promise<Answer<ObjectFacts | undefined>> {
    const refusal = await this.#objects.acceptPut?.(put).catch(refusalOf)
    return refusal ? { refuse: refusal } : answer(await this.#objects.stat(put.key))
  }
}

const refusalOf = (error: unknown): Refusal => {
  if (error instanceof PutRefused) return error.refusal
  throw error
}
