import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Position, RawEvent } from '../../schemas/recorded.ts'
import { BEFORE_FIRST, type ReadableLog } from '../ports/event-log.ts'
import { Damaged } from '../ports/faults.ts'

const PAGE_EVENTS = 1000

/** Opens an exported log: a file with one event as JSON per line, ordered by position. */
export const openExportedLog = (path: string): ReadableLog => {
  async function* readAll(after: Position): AsyncGenerator<RawEvent[]> {
    const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
    let page: RawEvent[] = []
    let number = 0
    for await (const line of lines) {
      number += 1
      const event = parse(line, `${path}, line ${number}`)
      if (event.position <= after) continue
      page.push(event)
      if (page.length < PAGE_EVENTS) continue
      yield page
      page = []
    }
    if (page.length > 0) yield page
  }

  const readStream = async function* (stream: string, fromRevision: number) {
    for await (const page of readAll(BEFORE_FIRST))
      yield page.filter(event => event.stream === stream && event.revision >= fromRevision)
  }

  return {
    readAll,
    readStream,
    readEvent: async (stream, revision) => {
      for await (const page of readStream(stream, revision)) {
        const event = page.find(one => one.revision === revision)
        if (event) return event
      }
      return undefined
    },
    head: async () => {
      let head = BEFORE_FIRST
      for await (const page of readAll(BEFORE_FIRST))
        head = page.reduce((most, { position }) => Math.max(most, position), head)
      return head
    },
    close: async () => undefined,
  }
}

/** Checks only the fields that every check needs. Faults of other fields are reported by the checks. */
const parse = (line: string, place: string): RawEvent => {
  let event: Partial<RawEvent> | null
  try {
    event = JSON.parse(line)
  } catch (cause) {
    throw new Damaged(`${place} is not JSON: the export was cut or changed, or has another format than jsonl.`, {
      cause,
    })
  }
  const { stream, revision, position, id, type } = event ?? {}
  const isEvent =
    typeof stream === 'string' &&
    typeof id === 'string' &&
    typeof type === 'string' &&
    isCount(revision) &&
    isCount(position)
  if (!isEvent) throw new Damaged(`${place} is not an event: it needs stream, revision, position, id and type`)
  return event as RawEvent
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
