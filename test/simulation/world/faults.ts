import type { Chance } from './chance.ts'

/** The probabilities of faults in a world. All are 0 once the faults stop. */
export interface Faults {
  /** For each call to a store or another party: its request, or its answer, is lost. */
  requestLost: number
  answerLost: number
  /** Its request arrives twice. */
  doubled: number
  /** It is refused, and has no effect. */
  refused: number
  /** It is slow: `slowMs` instead of a few milliseconds. */
  slow: number
  slowMs: number
  /** For each page of a subscription or a read: it ends. */
  subscriptionDropped: number
  /** For each page of a subscription: it comes twice, or its events come in the wrong order. */
  pageDoubled: number
  pageDisordered: number
  /** For each subscription: it stays open and delivers nothing more. */
  subscriptionSilent: number
  /** Every 100 ms: a process crashes or stops; its connection to a store is cut in one direction for a while. */
  crash: number
  partition: number
  /** All processes crash, and the views lose their last commits, which they do not sync. */
  powerLoss: number
  /** A clock jumps. */
  clockJump: number
  /** All processes stand still for some minutes, as if their machines had been suspended. */
  suspension: number
  /** The views are emptied or rolled back, or only their checkpoint is, or a row is forged. */
  viewsHarmed: number
  /** For each job: the provider fails, or never ends it. */
  jobFails: number
  jobHangs: number
  /** For each job that is submitted again: the provider has forgotten it, and does another one. */
  jobForgotten: number
  /** For each webhook: the receiver fails or hangs. */
  receiverFails: number
  receiverHangs: number
  /** For each report of a payment: it comes twice, or never if asking brings the same. */
  reportLost: number
  /** For each refund: the bank sends the money back. */
  refundFails: number
}

export const noFaults: Faults = {
  requestLost: 0,
  answerLost: 0,
  doubled: 0,
  refused: 0,
  slow: 0,
  slowMs: 0,
  subscriptionDropped: 0,
  pageDoubled: 0,
  pageDisordered: 0,
  subscriptionSilent: 0,
  crash: 0,
  partition: 0,
  powerLoss: 0,
  clockJump: 0,
  suspension: 0,
  viewsHarmed: 0,
  jobFails: 0,
  jobHangs: 0,
  jobForgotten: 0,
  receiverFails: 0,
  receiverHangs: 0,
  reportLost: 0,
  refundFails: 0,
}

/** These may take a run from the process that works on it, which then ends as interrupted. */
const INTERRUPTIONS = ['slow', 'crash', 'partition', 'powerLoss', 'clockJump', 'suspension', 'viewsHarmed'] as const

export const mayInterrupt = (faults: Faults): boolean => INTERRUPTIONS.some(kind => faults[kind] > 0)

/**
 * Draws how bad a world is. Each kind of fault is missing from half of the worlds, so that the others get further. Some
 * worlds have none that interrupt runs, and a few none but those of other parties, so that nothing excuses a mistake.
 */
export const drawFaults = (chance: Chance): Faults => {
  const isUninterrupted = chance.happens(0.2)
  const upTo = (most: number) => (chance.happens(0.5) ? chance.fraction() * most : 0)
  const drawn = {
    requestLost: upTo(0.05),
    answerLost: upTo(0.05),
    doubled: upTo(0.05),
    refused: upTo(0.1),
    slow: upTo(0.05),
    slowMs: chance.pick([200, 2_000, 20_000]),
    subscriptionDropped: upTo(0.1),
    pageDoubled: upTo(0.1),
    pageDisordered: upTo(0.05),
    subscriptionSilent: upTo(0.02),
    crash: upTo(0.02),
    partition: upTo(0.02),
    powerLoss: upTo(0.005),
    clockJump: upTo(0.01),
    suspension: upTo(0.01),
    viewsHarmed: upTo(0.05),
    jobFails: upTo(0.3),
    jobHangs: upTo(0.1),
    receiverFails: upTo(0.3),
    receiverHangs: upTo(0.1),
    jobForgotten: upTo(1),
    reportLost: upTo(0.3),
    refundFails: upTo(0.3),
  }
  if (chance.happens(0.05)) return { ...noFaults, ...outside(drawn) }
  return isUninterrupted ? { ...drawn, ...without(INTERRUPTIONS) } : drawn
}

/** The faults of other parties, which excuse no failure of the service. */
const outside = (faults: Faults): Partial<Faults> => Object.fromEntries(OUTSIDE.map(kind => [kind, faults[kind]]))

const OUTSIDE = [
  ...(['jobFails', 'jobHangs', 'jobForgotten', 'receiverFails', 'receiverHangs'] as const),
  ...(['reportLost', 'refundFails'] as const),
]

/** Whether no fault excuses that the service is unavailable. */
export const mustBeAvailable = (faults: Faults): boolean =>
  Object.entries({ ...faults, ...without(OUTSIDE), slowMs: 0 }).every(([, probability]) => probability === 0)

/** The probabilities of faults that do not happen. */
export const without = (kinds: readonly (keyof Faults)[]): Partial<Faults> =>
  Object.fromEntries(kinds.map(kind => [kind, 0]))
