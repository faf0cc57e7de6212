import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Client } from 'minio'
import { type IncomingObject, isObjectKey, type ObjectStore } from '../../ports/object-store.ts'
import { openArriving } from './arriving.ts'
import { expectKey, expectRange } from './expect.ts'
import { isAbsent, noBucket, toS3Fault } from './s3-faults.ts'
import { type Retention, withOurRules } from './s3-lifecycle.ts'
import { createAgent, createTransport } from './s3-transport.ts'

/** An S3 server and a bucket on it, as one address tells of them. */
export interface S3Address {
  host: string
  port: number | undefined
  tls: boolean
  region: string
  bucket: string
  accessKey: string
  secretKey: string
}

export interface S3Options extends S3Address {
  /** How clients reach the server, where it is not by the same address. */
  publicUrl: string | undefined
  /** How long the bucket keeps what nobody has taken away before. */
  retention: Retention
  /** Where objects lie until they are whole: only then is their size known, which S3 asks for. */
  stagingFolder: string
  /** Told of what does not stop the service, but must be looked after. */
  onWarning: (warning: Error) => void
  /** How long the server may take until it answers. */
  answerMs?: number
}

const ANSWER_MS = 30_000

/** The longest that the signature of an address may hold. */
const WEEK_S = 7 * 24 * 60 * 60

/** For fronts of the bucket. An object may be deleted at any time, and that is to be seen. */
const CACHE = 'public, max-age=3600'

const OWNER_ONLY = 0o600

/** Objects in a bucket of an S3 server. */
export const openS3ObjectStore = async (options: S3Options): Promise<ObjectStore> => {
  const { bucket, tls } = options
  const agent = createAgent(tls)
  const client = new Client({
    ...{ ...clientOptions(options), transportAgent: agent, retryOptions: { disableRetry: true } },
    transport: createTransport(tls, options.answerMs ?? ANSWER_MS),
  })
  const forClients = options.publicUrl ? new Client(clientOptions({ ...options, ...parse(options.publicUrl) })) : client
  const place = { bucket, server: `${options.host}${options.port ? `:${options.port}` : ''}` }

  const ask = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      throw toS3Fault(error, place)
    }
  }

  const find = <T>(answer: Promise<T>): Promise<T | undefined> =>
    ask(
      answer.catch(error => {
        if (isAbsent(error)) return undefined
        throw error
      }),
    )

  /** The signature holds a hash of what is sent, where TLS does not keep it whole. */
  const hash = () => createHash(tls ? 'md5' : 'sha256')

  const send = async (
    key: string,
    mimeType: string,
    hashed: ReturnType<typeof hash>,
    body: Buffer | Readable,
    size: number,
  ) => {
    const headers = { 'content-type': mimeType, 'cache-control': CACHE, 'content-length': size }
    const [md5, sha256] = tls ? [{ 'content-md5': hashed.digest('base64') }, ''] : [{}, hashed.digest('hex')]
    const request = { method: 'PUT', bucketName: bucket, objectName: key, headers: { ...headers, ...md5 } }
    // The client's own way to put a stream would hold all of it in memory.
    const answer = await ask(client.makeRequestStreamAsync(request, body, sha256, [200], ''))
    answer.resume()
  }

  const check = async () => {
    if (!(await ask(client.bucketExists(bucket)))) throw noBucket(place)
  }

  const arriving = await openArriving(options.stagingFolder, OWNER_ONLY)
  await check()
  await ask(updateLifecycle(client, options)).catch(error =>
    options.onWarning(
      new Error(`bucket ${bucket} got no rules that remove what is too old (${error.message})`, { cause: error }),
    ),
  )

  return {
    put: async (key, bytes, mimeType) => {
      expectKey(key)
      const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      await send(key, mimeType, hash().update(body), body, body.byteLength)
    },
    receive: async (): Promise<IncomingObject> => {
      const hashed = hash()
      let sizeBytes = 0
      const incoming = await arriving.receive(bytes => {
        hashed.update(bytes)
        sizeBytes += bytes.byteLength
      })
      const store = async (key: string, mimeType: string) => {
        try {
          expectKey(key)
          await incoming.complete()
          const staged = incoming.file.createReadStream({ start: 0, autoClose: false })
          await send(key, mimeType, hashed, staged, sizeBytes).finally(() => staged.destroy())
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
      const { etag = '', 'content-type': contentType } = body.headers
      return { sizeBytes: wholeSizeOf(body), etag, contentType, body }
    },
    stat: async key => {
      const found = isObjectKey(key) ? await find(client.statObject(bucket, key)) : undefined
      return found && { sizeBytes: found.size, etag: `"${found.etag}"`, contentType: found.metaData['content-type'] }
    },
    delete: async key => {
      expectKey(key)
      await find(client.removeObject(bucket, key))
    },
    presignPut: async ({ key, expiresAtMs }) => {
      expectKey(key)
      // An address that is no longer good was given at a time when it still was.
      const fromMs = Math.min(Date.now(), expiresAtMs - 1000)
      const seconds = Math.floor(expiresAtMs / 1000) - Math.floor(fromMs / 1000)
      return forClients.presignedUrl('PUT', bucket, key, Math.min(seconds, WEEK_S), {}, new Date(fromMs))
    },
    check,
    close: async () => {
      await arriving.close()
      agent.destroy()
    },
  }
}

/** A backstop: the service itself removes what is too old. */
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

const clientOptions = ({ host, port, tls, region, accessKey, secretKey }: ServerOptions) => ({
  // An address of IPv6 stands in brackets where a port may follow.
  endPoint: host.replace(/^\[|\]$/g, ''),
  ...(port !== undefined && { port }),
  useSSL: tls,
  // Without it, the server would be asked before an address is signed.
  region,
  accessKey,
  secretKey,
})

type ServerOptions = Omit<S3Address, 'bucket'>

const parse = (text: string) => {
  const url = new URL(text)
  return { host: url.hostname, port: url.port ? Number(url.port) : undefined, tls: url.protocol === 'https:' }
}

/** Of a part, the server says how large the whole is. */
const wholeSizeOf = ({ headers }: IncomingMessage): number =>
  Number(headers['content-range']?.split('/')[1] ?? headers['content-length'])
