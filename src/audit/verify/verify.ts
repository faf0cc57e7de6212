import type { Position } from '../../../schemas/recorded.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Fault } from '../fault.ts'
import type { KeptSeal } from '../kept-seals.ts'
import type { OnProgress } from '../read-log.ts'
import { type Findings, verifyPart } from './part.ts'
import type { NewestSeal } from './seals.ts'
import { loginFaults } from './sign-in.ts'

export interface VerifyOptions {
  /** Checks only this account, and the catalog with its prices. */
  account?: string | undefined
  /** Whether positions have no gaps, as in the embedded log. */
  isDense: boolean
  /** Seals from outside the log, which the log must contain. */
  kept?: readonly KeptSeal[] | undefined
  onProgress?: OnProgress | undefined
}

/**
 * Verifies the log up to its current head. Continues after a fault, to find all faults. Resolves to undefined if the
 * log lacks the account.
 */
export const verifyLog = async (log: ReadableLog, options: VerifyOptions): Promise<Verification | undefined> => {
  const head = await log.head()
  const findings = await verifyPart(log, { ...options, head, part: { number: 0, of: 1 } })
  return findings.lacksAccount ? undefined : merge(head, [findings])
}

export interface Verification {
  /** The position of the newest event that was checked. */
  head: Position
  events: number
  streams: number
  /** The time of the newest event; absent from an empty log. */
  newestAt?: string
  /** The newest seal; absent if the log has none, or if one account is verified. */
  seal?: NewestSeal
  /** The number of events that no seal covers. */
  unsealed: number
  faults: Fault[]
  notes: Fault[]
  /** Whether the log lacks a kept seal that may be forged. */
  isInDoubt: boolean
}

/** Merges the findings of all parts. Throws Damaged if the parts have read different events. */
export const merge = (head: Position, parts: Findings[]): Verification => {
  const events = sum(parts.map(part => part.events))
  // Exactly one part checks each event.
  if (parts.some(({ read }) => read !== events)) throw new Damaged('the log changed while it was read; try again')
  const newestAt = parts
    .map(part => part.newestAt)
    .sort()
    .at(-1) as string
  const newestAtMs = Date.parse(newestAt)
  const atEnd = parts
    .flatMap(part => part.foundAtEnd)
    .filter(({ afterMs }) => afterMs === undefined || newestAtMs > afterMs)
  const all = [
    ...inOrder(parts.flatMap(({ found }) => found)).map(({ fault }) => fault),
    ...inOrder(atEnd).map(({ fault }) => fault),
    ...parts.flatMap(({ lost }) => lost),
    ...loginFaults(inOrder(parts.flatMap(({ logins }) => logins))),
  ]
  const seal = parts.find(part => part.seal)?.seal
  return {
    ...{ head, events, streams: sum(parts.map(({ streams }) => streams)) },
    ...(newestAt && { newestAt }),
    ...(seal && { seal }),
    unsealed: sum(parts.map(({ unsealed }) => unsealed)),
    faults: all.filter(({ isNote }) => !isNote),
    notes: all.filter(({ isNote }) => isNote),
    isInDoubt: parts.some(({ isInDoubt }) => isInDoubt),
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Sorts findings in the order of the log. Findings of one part at the same event keep their order. */
const inOrder = <Placed extends { at: number }>(placed: Placed[]): Placed[] =>
  placed.sort((one, next) => one.at - next.at)
