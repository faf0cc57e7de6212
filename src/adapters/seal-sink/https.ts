import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Unavailable } from '../../ports/faults.ts'
import { type Outbound, OutboundError } from '../../ports/outbound.ts'
import { placeIn, type SealCopy, type SealPlace, type SealSink } from '../../ports/seal-sink.ts'

/** How long a receiver may take to store a seal. */
const ANSWER_MS = 10_000

const OWNER_ONLY = 0o600

interface HttpsSealSinkOptions {
  url: string
  outbound: Outbound
  /** Remembers the last seal that the receiver confirmed. */
  memory: string
}

/** A URL to which each seal is posted. Its path may be a secret. */
export const openHttpsSealSink = ({ url, outbound, memory }: HttpsSealSinkOptions): SealSink => {
  const { origin: name } = new URL(url)

  const post = async ({ name, text }: SealCopy) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': name }
    const answer = await outbound.post(url, { headers, body: text, timeoutMs: ANSWER_MS }).catch(error => {
      throw error instanceof OutboundError ? new Unavailable(error.message, { cause: error }) : error
    })
    if (answer.status < 200 || answer.status > 299) throw new Unavailable(`${name} answered with ${answer.status}`)
  }

  return {
    name,
    last: () => recall(memory),
    append: async seals => {
      let confirmed: SealCopy | undefined
      try {
        for (const seal of seals) {
          await post(seal)
          confirmed = seal
        }
      } finally {
        // Once for all seals, since writing to the disk takes longer than a response.
        if (confirmed) await remember(memory, confirmed)
      }
    },
    close: () => outbound.close(),
  }
}

/** A missing or unreadable memory is harmless: the receiver recognises known seals by their links. */
const recall = async (memory: string): Promise<SealPlace | undefined> =>
  placeIn(await readFile(memory, 'utf8').catch(() => ''))

/** A crash leaves the memory either before or after the change. */
const remember = async (memory: string, { number, link }: SealPlace) => {
  await mkdir(dirname(memory), { recursive: true })
  await writeFile(`${memory}.new`, JSON.stringify({ number, link }), { mode: OWNER_ONLY, flush: true })
  await rename(`${memory}.new`, memory)
}
