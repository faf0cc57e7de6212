import { Readable } from 'node:stream'
import type { ObjectStore, StoredObject } from '../../../src/ports/object-store.ts'
import type { Wire } from './wire.ts'

/** An object store as one process reaches it. Like S3, it is sent an incoming object only once that has arrived. */
export const objectsOverWire = (wire: Wire, objects: ObjectStore): ObjectStore => ({
  put: (key, ...object) => wire.call(`put ${key}`, () => objects.put(key, ...object)),
  receive: async () => {
    const { body, store, discard } = await objects.receive()
    const send: typeof store = (key, ...options) => wire.call(`send ${key}`, () => store(key, ...options))
    return { body, discard, store: (...object) => send(...object).finally(discard) }
  },
  get: async (key, range) => {
    const found = await wire.call(`get ${key}`, () => objects.get(key, range))
    return found && { ...found, body: bodyOverWire(wire, key, found) }
  },
  stat: key => wire.call(`stat ${key}`, () => objects.stat(key)),
  delete: key => wire.call(`delete ${key}`, () => objects.delete(key)),
  deleteAll: keys => wire.call(`delete ${keys.length} of ${keys[0]}`, () => objects.deleteAll(keys)),
  overwrite: (key, bytes) => wire.call(`overwrite ${key}`, () => objects.overwrite(key, bytes)),
  presignPut: grant => objects.presignPut(grant),
  ensureRoom: () => objects.ensureRoom(),
  check: () => wire.call('check', () => objects.check()),
  close: () => objects.close(),
})

const bodyOverWire = (wire: Wire, key: string, { body }: StoredObject) =>
  Readable.from(wire.pages(`body of ${key}`, body), { objectMode: false })
