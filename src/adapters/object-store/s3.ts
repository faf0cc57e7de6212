import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type IncomingObject, isObjectKey, type ObjectStore, type StoreOptions } from '../../ports/object-store.ts'
import { FILE_RESERVE_BYTES } from '../free-space.ts'
import { expectKey, expectKeys, expectRange } from './checks.ts'
import { type Client, createAgent, createS3Client, createTransport, type S3Address } from './s3-client.ts'
import { isAbsent, isTaken, noBucket, notDeleted, toS3Fault } from './s3-faults.ts'
import { type Retention, withOurRules } from './s3-lifecycle.ts'
import { openStaging } from './staging.ts'

export interface S3Options extends S3Address {
  /** The server's URL for clients, if it differs. */
  publicUrl: string | undefined
  /** How long the bucket keeps objects that the service has not deleted. */
  retention: Retention
  /** Holds incomplete objects, because S3 needs the size first. */
  stagingFolder: string
  /** Called for problems that need an operator but do not stop the service. */
  onWarning: (warning: Error) => void
  /** How long the server may take to respond. */
  answerMs?: number
}

const ANSWER_MS = 30_000

/** The maximum lifetime of a presigned URL. */
const WEEK_S = 7 * 24 * 60 * 60

/** For a CDN in front of the bucket. Short, because an object may be deleted at any time. */
const CACHE = 'public, max-age=3600'

const OWNER_ONLY = 0o600

/** Stores objects in a bucket of an S3 server. */
export const openS3ObjectStore = async (options: S3Options): Promise<ObjectStore> => {
  const { bucket, tls } = options
  const agent = createAgent(tls)
  const client = createS3Client(options, {
    ...{ transportAgent: agent, retryOptions: { disableRetry: true } },
    transport: createTransport(tls, options.answerMs ?? ANSWER_MS),
  })
  const clientForSigning = options.publicUrl ? createS3Client({ ...options, ...parse(options.publicUrl) }) : client
  const place = { bucket, server: `${options.host}${options.port ? `:${options.port}` : ''}` }

  const mapFaults = async <T>(response: Promise<T>): Promise<T> => {
    try {
      return await response
    } catch (error) {
      throw toS3Fault(error, place)
    }
  }

  const find = <T>(response: Promise<T>): Promise<T | undefined> =>
    mapFaults(
      response.catch(error => {
        if (isAbsent(error)) return undefined
        throw error
      }),
    )

  /** Without TLS, the signature includes a hash of the content to protect it. */
  const hash = () => createHash(tls ? 'md5' : 'sha256')

  const send = async (
    key: string,
    mimeType: string,
    { hashed, body, size }: { hashed: ReturnType<typeof hash>; body: Buffer | Readable; size: number },
    { ifAbsent = false }: StoreOptions = {},
  ): Promise<boolean> => {
    const headers = {
      ...{ 'content-type': mimeType, 'cache-control': CACHE, 'content-length': size },
      ...(ifAbsent && { 'if-none-match': '*' }),
    }
    const [md5, sha256] = tls ? [{ 'content-md5': hashed.digest('base64') }, ''] : [{}, hashed.digest('hex')]
    const request = { method: 'PUT', bucketName: bucket, objectName: key, headers: { ...headers, ...md5 } }
    // The client would buffer the whole stream in memory.
    const response = await mapFaults(
      client.makeRequestStreamAsync(request, body, sha256, [200], '').catch(error => {
        if (ifAbsent && isTaken(error)) return undefined
        throw error
      }),
    )
    response?.resume()
    return response !== undefined
  }

  const check = async () => {
    if (!(await mapFaults(client.bucketExists(bucket)))) throw noBucket(place)
  }

  const staging = await openStaging({
    folder: options.stagingFolder,
    mode: OWNER_ONLY,
    reserveBytes: FILE_RESERVE_BYTES,
  })
  await check()
  await mapFaults(updateLifecycle(client, options)).catch(error =>
    options.onWarning(
      new Error(`lifecycle rules could not be set on bucket ${bucket} (${error.message})`, { cause: error }),
    ),
  )

  const put: ObjectStore['put'] = async (key, bytes, mimeType, options) => {
    expectKey(key)
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return send(key, mimeType, { hashed: hash().update(body), body, size: body.byteLength }, options)
  }

  return {
    put,
    receive: async (): Promise<IncomingObject> => {
      const hashed = hash()
      let sizeBytes = 0
      const incoming = await staging.receive(bytes => {
        hashed.update(bytes)
        sizeBytes += bytes.byteLength
      })
      const store = async (key: string, mimeType: string, options?: StoreOptions) => {
        try {
          expectKey(key)
          await incoming.complete()
          const body = incoming.file.createReadStream({ start: 0, autoClose: false })
          return await send(key, mimeType, { hashed, body, size: sizeBytes }, options).finally(() => body.destroy())
        } finally {
          await incoming.discard()
        }
      }
      return { body: incoming.body, store, discard: incoming.discard }
    },
    get: async (key, range) => {
      if (range) expectRange(range)
      if (!isObjectKey(key)) return undefined
      const part = range ? ([range.start, range.end - range.start + 1] as const) : ([0, 0] as const)
      const body = (await find(client.getPartialObject(bucket, key, ...part))) as IncomingMessage | undefined
      if (!body) return undefined
      const { etag = '', 'content-type': contentType, 'last-modified': lastModified = '' } = body.headers
      return { sizeBytes: wholeSizeOf(body), etag, contentType, storedAtMs: Date.parse(lastModified), body }
    },
    stat: async key => {
      const found = isObjectKey(key) ? await find(client.statObject(bucket, key)) : undefined
      if (!found) return undefined
      const { size: sizeBytes, etag, metaData, lastModified } = found
      const contentType = metaData['content-type']
      return { sizeBytes, etag: `"${etag}"`, contentType, storedAtMs: lastModified.getTime() }
    },
    delete: async key => {
      expectKey(key)
      await find(client.removeObject(bucket, key))
    },
    deleteAll: async keys => {
      expectKeys(keys)
      if (keys.length === 0) return
      const [fault] = await mapFaults(client.removeObjects(bucket, [...keys]))
      if (fault) throw notDeleted(fault, place)
    },
    overwrite: async (key, bytes) => {
      await put(key, bytes, 'application/octet-stream')
    },
    presignPut: async ({ key, expiresAtMs }) => {
      expectKey(key)
      // For an expiry in the past, signs an expired URL.
      const fromMs = Math.min(Date.now(), expiresAtMs - 1000)
      const seconds = Math.floor(expiresAtMs / 1000) - Math.floor(fromMs / 1000)
      return clientForSigning.presignedUrl('PUT', bucket, key, Math.min(seconds, WEEK_S), {}, new Date(fromMs))
    },
    ensureRoom: staging.ensureRoom,
    check,
    close: async () => {
      await staging.close()
      agent.destroy()
    },
  }
}

/** A backstop: the service itself deletes expired objects. */
const updateLifecycle = async (client: Client, { bucket, retention }: S3Options) => {
  const request = { bucketName: bucket, query: 'lifecycle' }
  const present = await client.makeRequestAsync({ ...request, method: 'GET' }).then(text, error => {
    if (error.code === 'NoSuchLifecycleConfiguration') return ''
    throw error
  })
  const rules = withOurRules(present, retention)
  if (rules === undefined) return
  const headers = { 'content-md5': createHash('md5').update(rules).digest('base64') }
  await client.makeRequestAsyncOmit({ ...request, method: 'PUT', headers }, rules)
}

const parse = (text: string) => {
  const url = new URL(text)
  return { host: url.hostname, port: url.port ? Number(url.port) : undefined, tls: url.protocol === 'https:' }
}

/** A partial response states the whole size in Content-Range. */
const wholeSizeOf = ({ headers }: IncomingMessage): number =>
  Number(headers['content-range']?.split('/')[1] ?? headers['content-length'])
