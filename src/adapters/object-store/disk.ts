import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { link, open, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { specificType } from '../../domain/media-types.ts'
import { Unavailable } from '../../ports/faults.ts'
import {
  type ByteRange,
  type IncomingObject,
  type IncomingPut,
  isObjectKey,
  type ObjectFacts,
  type ObjectStore,
  type PutGrant,
  PutRefused,
  type StoreOptions,
} from '../../ports/object-store.ts'
import { FILE_RESERVE_BYTES } from '../free-space.ts'
import { expectKey, expectKeys, expectRange } from './checks.ts'
import { durableFiles } from './durable-files.ts'
import { absent, openStaging } from './staging.ts'

interface DiskOptions {
  folder: string
  /** Signs presigned URLs. */
  putSecret: string
  /** The base URL of objects, without a trailing slash. */
  putUrl: () => string
  /** With less free space on the disk, no files are stored. */
  reserveBytes?: number
}

/**
 * Stores objects as files. An object appears under its name only when it is complete and durable. Rejects with
 * Unavailable if the folder cannot be written, or has no hard links.
 */
export const openDiskObjectStore = async ({
  folder,
  putSecret,
  putUrl,
  reserveBytes = FILE_RESERVE_BYTES,
}: DiskOptions): Promise<ObjectStore> => {
  const arriving = join(folder, 'arriving')
  const staging = await openStaging({ folder: arriving, reserveBytes })
  await expectHardLinks(arriving).catch(async error => {
    await staging.close()
    throw error
  })
  const files = durableFiles(folder)

  const receive = async (): Promise<IncomingObject> => {
    const file = await staging.receive()
    return { body: file.body, store: (key, _, options) => files.store(file, key, options), discard: file.discard }
  }

  const put = async (key: string, bytes: Uint8Array, options?: StoreOptions) => {
    expectKey(key)
    const file = await staging.receive()
    file.body.end(bytes)
    return files.store(file, key, options)
  }

  const factsOf = async (key: string) => (isObjectKey(key) ? readFacts(join(folder, key)) : undefined)

  return {
    receive,
    put: (key, bytes, _, options) => put(key, bytes, options),
    get: async (key, range) => {
      const facts = await factsOf(key)
      if (range) expectRange(range, facts?.sizeBytes)
      return facts && { ...facts, body: Readable.from(read(join(folder, key), facts, range), { objectMode: false }) }
    },
    stat: factsOf,
    delete: async key => {
      expectKey(key)
      await files.remove([key])
    },
    deleteAll: async keys => {
      expectKeys(keys)
      await files.remove(keys)
    },
    overwrite: async (key, bytes) => {
      expectKey(key)
      if (!(await files.overwrite(key, bytes))) await put(key, bytes)
    },
    presignPut: async grant => {
      expectKey(grant.key)
      return `${putUrl()}/${grant.key}?${signPut(putSecret, grant)}`
    },
    acceptPut: async (put, admit) => {
      const grant = readGrant(putSecret, put.key, put.query)
      expectGranted(put, grant)
      await admit(grant)
      const incoming = await receive()
      try {
        await pipeline(upTo(grant.maxSizeBytes, put.body), incoming.body)
        await admit(grant)
      } catch (error) {
        await incoming.discard()
        throw error
      }
      await incoming.store(put.key, grant.mimeType)
      return grant
    },
    ensureRoom: staging.ensureRoom,
    check: staging.check,
    close: staging.close,
  }
}

const readFacts = async (path: string): Promise<ObjectFacts | undefined> => {
  const found = await stat(path, { bigint: true }).catch(absent)
  return found?.isFile() ? { sizeBytes: Number(found.size), etag: etagOf(found) } : undefined
}

/**
 * Includes the inode, which changes when a file is replaced. The clock of a disk is too coarse to tell two files apart.
 */
const etagOf = ({ size, mtimeNs, ino }: BigIntStats) =>
  `"${[size, mtimeNs, ino].map(part => part.toString(36)).join('-')}"`

/** Opens the file at the first read, so that an unread stream need not be closed. */
async function* read(path: string, { etag }: ObjectFacts, range?: ByteRange) {
  const file = await open(path).catch(absent)
  if (!file) throw replaced(path)
  try {
    if (etagOf(await file.stat({ bigint: true })) !== etag) throw replaced(path)
    yield* file.createReadStream({ ...range, autoClose: false })
  } finally {
    await file.close()
  }
}

const replaced = (path: string) =>
  new Unavailable(`${path} was replaced or deleted while it was read`, { part: 'objects' })

const expectGranted = (put: IncomingPut, grant: PutGrant) => {
  if (grant.expiresAtMs <= Date.now()) throw new PutRefused({ code: 'put_address_expired' })
  const sentAs = specificType(put.mimeType)
  if (sentAs !== undefined && sentAs !== specificType(grant.mimeType))
    throw new PutRefused({ code: 'put_type_mismatch', sentAs, granted: grant.mimeType })
  if (put.sizeBytes !== undefined && put.sizeBytes > grant.maxSizeBytes) throw tooLarge(grant.maxSizeBytes)
}

const tooLarge = (limitBytes: number) => new PutRefused({ code: 'put_too_large', limitBytes })

async function* upTo(maxSizeBytes: number, body: Readable) {
  let sizeBytes = 0
  try {
    // The caller must still respond over the same connection.
    for await (const bytes of body.iterator({ destroyOnReturn: false })) {
      sizeBytes += bytes.byteLength
      if (sizeBytes > maxSizeBytes) throw tooLarge(maxSizeBytes)
      yield bytes
    }
  } catch (error) {
    throw error instanceof PutRefused ? error : new PutRefused({ code: 'put_interrupted' })
  }
}

/** The errors of file systems without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Rejects with Unavailable if files in a folder cannot have a second name. Ignores other faults, which show later. */
const expectHardLinks = async (folder: string): Promise<void> => {
  const [one, other] = [join(folder, randomUUID()), join(folder, randomUUID())]
  try {
    await writeFile(one, '', { flag: 'wx' })
    await link(one, other)
  } catch (error) {
    const { code = '', syscall, message } = error as NodeJS.ErrnoException
    if (syscall !== 'link' || !NO_LINKS.includes(code)) return
    const remedy = 'set OBJECT_STORE_URL or DATA_DIR to a folder on another one'
    throw new Unavailable(`${folder} is on a file system without hard links (${message}); ${remedy}`, {
      part: 'objects',
      cause: error,
    })
  } finally {
    for (const name of [one, other]) await unlink(name).catch(() => undefined)
  }
}

/** The query of a presigned URL that allows one PUT. */
export const signPut = (secret: string, grant: PutGrant): URLSearchParams => {
  const { key, mimeType, maxSizeBytes, expiresAtMs, purpose } = grant
  const query = new URLSearchParams({ expires: `${expiresAtMs}`, type: mimeType, max: `${maxSizeBytes}`, for: purpose })
  query.set('signature', signatureOf(secret, key, query))
  return query
}

/** Verifies a presigned URL and returns its grant. Throws PutRefused. */
export const readGrant = (secret: string, key: string, query: URLSearchParams): PutGrant => {
  const [actual, expected] = [query.get('signature') ?? '', signatureOf(secret, key, query)].map(text =>
    Buffer.from(text),
  )
  if (!actual || !expected || actual.byteLength !== expected.byteLength || !timingSafeEqual(actual, expected))
    throw new PutRefused({ code: 'put_address_invalid' })
  return {
    key,
    mimeType: query.get('type') ?? '',
    maxSizeBytes: Number(query.get('max')),
    expiresAtMs: Number(query.get('expires')),
    purpose: query.get('for') ?? '',
  }
}

const signatureOf = (secret: string, key: string, query: URLSearchParams): string => {
  // JSON is unambiguous: different lists have different texts.
  const signed = JSON.stringify(['PUT', key, ...['expires', 'type', 'max', 'for'].map(name => query.get(name))])
  return createHmac('sha256', secret).update(signed).digest('hex')
}
