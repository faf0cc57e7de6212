type Facts = Record<string, unknown>

const HOUR_MS = 60 * 60 * 1000

/** The tests of webhooks, and the resends by its owner, that an account may have in an hour. */
const MAX_TESTS = 5
const MAX_RESENDS = 100

/** Events of a clock that is ahead by less count as well. */
const TOLERANCE_MS = 60_000

/** What owners may ask about their webhooks and how often, by the rules in `docs/ledger-format.md`. */
export class WebhookCare {
  readonly #tests = new Map<unknown, 'open' | 'recorded'>()
  readonly #testsAtMs: number[] = []
  readonly #resendsAtMs: number[] = []
  #generation = 0
  #rotatedAtMs = Number.NEGATIVE_INFINITY

  /** The faults of an event that happened at a time in ms since 1970, by the account's owner or by somebody else. */
  take(type: string, data: Facts, atMs: number, isByOwner: boolean): string[] {
    switch (type) {
      case 'WebhookRedeliveryRequested':
        return isByOwner ? withinHour(this.#resendsAtMs, MAX_RESENDS, atMs, 'resends') : []
      case 'WebhookSecretRotated': {
        const faults = [
          ...(data['generation'] === this.#generation + 1 ? [] : ['a generation of the secret is not the next one']),
          ...(Math.abs(atMs - this.#rotatedAtMs) >= 24 * HOUR_MS ? [] : ['the secret is rotated twice within a day']),
        ]
        this.#generation = Number(data['generation'])
        this.#rotatedAtMs = atMs
        return faults
      }
      case 'WebhookTestRequested': {
        const isKnown = this.#tests.has(data['testId'])
        this.#tests.set(data['testId'], 'open')
        const faults = withinHour(this.#testsAtMs, MAX_TESTS, atMs, 'tests of webhooks')
        return isKnown ? ['a test of a webhook is requested twice', ...faults] : faults
      }
      default: {
        const isOpen = this.#tests.get(data['testId']) === 'open'
        this.#tests.set(data['testId'], 'recorded')
        return isOpen ? [] : ['a test of a webhook has a result that is not the first of a request']
      }
    }
  }
}

/** Adds a time. A fault if so many of the latest lie within the hour before it. */
const withinHour = (times: number[], limit: number, atMs: number, what: string): string[] => {
  const recent = times.slice(-limit).filter(each => each > atMs - HOUR_MS && each <= atMs + TOLERANCE_MS)
  times.push(atMs)
  return recent.length < limit ? [] : [`an account has too many ${what} within an hour`]
}
