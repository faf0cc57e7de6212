import { deepEqual } from 'node:assert/strict'
import type { RawEvent } from '../../schemas/recorded.ts'
import { verifyPart } from '../../src/audit/verify/part.ts'
import { merge, type Verification, type VerifyOptions, verifyLog } from '../../src/audit/verify/verify.ts'
import type { ReadableLog } from '../../src/ports/event-log.ts'
import { logOf } from './log-of.ts'

/** With 3, the first part has some accounts; with 8, any two accounts are likely in different parts. */
const NUMBERS_OF_PARTS = [3, 8]

/** What is found in a log of these events. Rejects unless parts that are verified apart find the same together. */
export const verified = async (events: RawEvent[], options: VerifyOptions): Promise<Verification> => {
  const log = logOf(events)
  const whole = (await verifyLog(log, options)) as Verification
  const head = await log.head()
  for (const of of NUMBERS_OF_PARTS) {
    const parts = Array.from({ length: of }, (_, number) =>
      verifyPart(skimmed(log), { ...options, head, part: { number, of } }),
    )
    // Between processes, they are copied in this way.
    deepEqual(merge(head, structuredClone(await Promise.all(parts))), whole)
  }
  return whole
}

/** A log that passes over all events that it may. */
const skimmed = (log: ReadableLog): ReadableLog => ({
  ...log,
  async *skimAll(after, isWanted) {
    for await (const page of log.readAll(after))
      yield page.map(event => (isWanted(event.stream) ? event : { stream: event.stream, position: event.position }))
  },
})
