/** What may be unavailable, for the metrics of answers with 503. `load`: too much work is waiting. */
export const parts = ['log', 'views', 'objects', 'disk', 'provider', 'load', 'other'] as const
export type Part = (typeof parts)[number]

/** A store is temporarily unavailable; retry later. Nothing was written unless the port says otherwise. */
export class Unavailable extends Error {
  override name = 'Unavailable'
  readonly part: Part

  constructor(message: string, { part = 'other', ...options }: ErrorOptions & { part?: Part } = {}) {
    super(message, options)
    this.part = part
  }
}

/** The log does not respond, so the outcome of a write is unknown. The same request can be retried. */
export class InDoubt extends Unavailable {
  override readonly part = 'log'
}

/** Stored data is corrupt. The message names the remedy. */
export class Damaged extends Error {
  override name = 'Damaged'
}

/** The log holds events that only a newer version of this service knows. */
export class NewerLog extends Damaged {}
