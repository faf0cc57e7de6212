import { createDecipheriv, createHmac } from 'node:crypto'
import type { NewEvent } from '../../../src/ports/event-log.ts'
import type { SimulatedBucket } from './object-store.ts'

/**
 * The events of an append with their personal data decrypted, by `docs/ledger-format.md`. Shares no code with the
 * service.
 */
export const decrypted = (
  stream: string,
  events: NewEvent[],
  { objects }: SimulatedBucket,
  masterSecret: string,
): (NewEvent & { stored?: unknown })[] =>
  events.map(event => {
    const { personal, ...shown } = event.data as { personal?: string }
    if (personal === undefined) return event
    const accountId = stream.slice('account-'.length)
    const wrappingKey = hmac(masterSecret, 'vault')
    const name = hmac(wrappingKey, accountId).toString('hex').slice(0, 32)
    const wrapped = objects.get(`vault/${name}.key`)?.bytes
    if (!wrapped) throw new Error(`${stream} has no key for its personal data`)
    const text = opened(opened(wrappingKey, wrapped, accountId), Buffer.from(personal, 'base64'), event.id)
    return { ...event, data: { ...shown, ...JSON.parse(text.toString()) }, stored: event.data }
  })

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

const opened = (key: Buffer, bytes: Buffer, context: string): Buffer => {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
