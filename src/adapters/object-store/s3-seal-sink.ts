import { text } from 'node:stream/consumers'
import { Damaged } from '../../ports/faults.ts'
import { placeIn, type SealPlace, type SealSink } from '../../ports/seal-sink.ts'
import { createAgent, createS3Client, createTransport, type S3Address } from './s3-client.ts'
import { toS3Fault } from './s3-faults.ts'

/** How long the server may take to respond. */
const ANSWER_MS = 30_000

/** With this many digits, names sort by number. */
const DIGITS = 16

/** More than any seal takes, in case the object is not a seal. */
const MAX_BYTES = 64 * 1024

interface S3SealSinkOptions extends S3Address {
  /** The prefix of all object names: empty, or a path that ends with a slash. */
  prefix: string
}

/** A bucket with an object for each seal. The object's name is the seal's number. */
export const openS3SealSink = ({ bucket, prefix, ...server }: S3SealSinkOptions): SealSink => {
  const agent = createAgent(server.tls)
  const client = createS3Client(server, {
    ...{ transportAgent: agent, retryOptions: { disableRetry: true } },
    transport: createTransport(server.tls, ANSWER_MS),
  })
  const place = { bucket, server: `${server.host}${server.port ? `:${server.port}` : ''}` }

  const mapFaults = <Value>(response: Promise<Value>): Promise<Value> =>
    response.catch(error => {
      throw toS3Fault(error, place)
    })

  const nameOf = (number: number) => `${prefix}${String(number).padStart(DIGITS, '0')}.json`

  /** The number of the first seal after `number`; undefined if there is none. */
  const nextAfter = async (number: number): Promise<number | undefined> => {
    const after = number < 0 ? prefix : nameOf(number)
    const query = new URLSearchParams({ 'list-type': '2', prefix, 'start-after': after, 'max-keys': '1' })
    // The signature covers a space as %20.
    const request = { method: 'GET', bucketName: bucket, query: query.toString().replaceAll('+', '%20') }
    const listed = await mapFaults(client.makeRequestAsync(request).then(text))
    const name = /<Key>([^<]*)<\/Key>/.exec(listed)?.[1]
    if (name === undefined) return undefined
    const [, digits] = /(?:^|\/)(\d{16})\.json$/.exec(name) ?? []
    if (digits === undefined)
      throw new Damaged(`bucket ${bucket} has the object ${name}, which is not a seal; give SEAL_SINK another prefix`)
    return Number(digits)
  }

  return {
    name: `s3://${bucket}/${prefix}`,
    last: async () => {
      const newest = await findNewest(nextAfter)
      return newest === undefined ? undefined : readPlace(newest)
    },
    append: async seals => {
      for (const { number, text } of seals) {
        const body = Buffer.from(`${text}\n`)
        const type = { 'content-type': 'application/json' }
        await mapFaults(client.putObject(bucket, nameOf(number), body, body.length, type))
      }
    },
    close: async () => agent.destroy(),
  }

  async function readPlace(number: number): Promise<SealPlace> {
    const content = await mapFaults(client.getPartialObject(bucket, nameOf(number), 0, MAX_BYTES).then(text))
    const found = placeIn(content)
    if (found?.number === number) return found
    throw new Damaged(`${nameOf(number)} in bucket ${bucket} is not a seal; give SEAL_SINK another prefix`)
  }
}

/**
 * Searches for the last name, because servers list names only in ascending order: with growing steps, then by halves.
 */
const findNewest = async (nextAfter: (number: number) => Promise<number | undefined>): Promise<number | undefined> => {
  let newest = await nextAfter(-1)
  if (newest === undefined) return undefined
  let step = 1
  for (let next = await nextAfter(newest + step); next !== undefined; next = await nextAfter(newest + step)) {
    newest = next
    step *= 2
  }
  while (step > 0) {
    step = Math.floor(step / 2)
    newest = (await nextAfter(newest + step)) ?? newest
  }
  return newest
}
