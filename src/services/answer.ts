import type { Refusal } from '../domain/refusal.ts'

/** The outcome of a service call. Only bugs and failed I/O are thrown. */
export type Answer<Value> = { value: Value } | Refused

export interface Refused {
  refuse: Refusal
}

export const answer = <Value>(value: Value): Answer<Value> => ({ value })
