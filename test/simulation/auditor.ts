import { createHash } from 'node:crypto'

/** An event as the auditor sees it: nothing is known of it but what it says itself. */
export interface AuditedEvent {
  type: string
  data: unknown
  metadata: unknown
}

type Facts = Record<string, unknown>

interface Run {
  state: 'debited' | 'queued' | 'processing' | 'completed' | 'failed' | 'refunded'
  chargedMicros: number
}

/** The uploads of one account that may be there at a time. */
const MOST_UPLOADS = 10_000

type Upload = 'granted' | 'stored' | 'sealed' | 'deleting'

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Follows the history of one account and says what is wrong with it. The auditor shares no code with the service and
 * knows the rules from their description alone, so that a mistake would have to be made twice.
 */
export class Auditor {
  readonly faults: string[] = []
  balanceMicros = 0
  readonly #runs = new Map<string, Run>()
  readonly #requests = new Map<string, number>()
  /** The runs of whose end somebody is to be told, and for those that have ended the attempts so far. */
  readonly #receivers = new Set<string>()
  readonly #attempts = new Map<string, number>()
  /** Uploads that are not deleted yet. */
  readonly #uploads = new Map<string, Upload>()
  #events = 0
  #hash = '0'.repeat(64)

  /** Takes in what was appended in one step. */
  follow(append: AuditedEvent[]) {
    for (const [index, event] of append.entries()) {
      const before = append[index - 1]
      const after = append[index + 1]
      this.#take(event, {
        isBefore: type => after?.type === type && idOf(after) === idOf(event),
        isAfter: type => before?.type === type && idOf(before) === idOf(event),
      })
      this.#events += 1
    }
  }

  /** Takes in the same, and checks that each event is chained to the one before. */
  followChain(append: AuditedEvent[]) {
    for (const { type, data, metadata } of append) {
      const { hash, ...facts } = metadata as Facts
      this.#hash = createHash('sha256')
        .update(this.#hash + canonical({ type, data, metadata: facts }))
        .digest('hex')
      this.#expect(this.#hash === hash, 'the chain breaks')
    }
    this.follow(append)
  }

  runsIn(...states: Run['state'][]): number {
    return [...this.#runs.values()].filter(({ state }) => states.includes(state)).length
  }

  get uploads(): [id: string, state: Upload][] {
    return [...this.#uploads].sort()
  }

  #take(event: AuditedEvent, { isBefore, isAfter }: Record<'isBefore' | 'isAfter', (type: string) => boolean>) {
    const data = event.data as Facts
    const runId = String(data['runId'])
    const run = this.#runs.get(runId)
    switch (event.type) {
      case 'CreditsGranted':
        return this.#move(data, 1)
      case 'CreditsDebited':
        this.#expect(run === undefined, 'a run is debited twice')
        this.#expect(isBefore('RunQueued'), 'a debit is not in one append with its run')
        this.#runs.set(runId, { state: 'debited', chargedMicros: data['amountMicros'] as number })
        return this.#move(data, -1)
      case 'RunQueued':
        this.#expect(isAfter('CreditsDebited'), 'a run is not in one append with its debit')
        this.#remember(data['idempotency'] as Facts | undefined, event.metadata as Facts)
        if (data['webhookUrl'] !== undefined) this.#receivers.add(runId)
        return this.#step(run, ['debited'], 'queued')
      case 'RunStarted':
        return this.#step(run, ['queued'], 'processing')
      case 'RunSubmitted':
        return this.#step(run, ['processing'], 'processing')
      case 'RunCancelRequested':
        return this.#step(run, ['processing'], 'processing')
      case 'RunCompleted':
        this.#owe(runId)
        return this.#step(run, ['processing'], 'completed')
      case 'RunFailed':
        this.#expect(isBefore('CreditsRefunded'), 'a failure is not in one append with its refund')
        this.#owe(runId)
        return this.#step(run, ['queued', 'processing'], 'failed')
      case 'CreditsRefunded':
        this.#expect(isAfter('RunFailed'), 'a refund is not in one append with its failure')
        this.#expect(run?.chargedMicros === data['amountMicros'], 'a refund is not what was charged')
        this.#step(run, ['failed'], 'refunded')
        return this.#move(data, 1)
      case 'WebhookRedeliveryRequested':
        this.#expect(!this.#attempts.has(runId), 'a receiver that is being told is to be told again')
        this.#attempts.set(runId, 0)
        return
      case 'WebhookDelivered':
        this.#attempt(runId, data)
        this.#attempts.delete(runId)
        return
      case 'WebhookAttemptFailed':
        this.#expect(
          isBefore('WebhookAbandoned') === (data['nextAttemptAt'] === undefined),
          'a last attempt is not the last',
        )
        return this.#attempt(runId, data)
      case 'WebhookAbandoned':
        this.#expect(isAfter('WebhookAttemptFailed'), 'a receiver is given up without an attempt')
        this.#attempts.delete(runId)
        return
      case 'RunOutputDeleted':
        return this.#expect(
          run === undefined || run.state === 'completed' || run.state === 'refunded',
          'the results of a run that goes on are deleted',
        )
      case 'UploadGranted':
        this.#expect(this.#uploads.size < MOST_UPLOADS, 'an account has too many uploads')
        return this.#stepUpload(data, [undefined], 'granted')
      case 'UploadStored':
        return data['sealed']
          ? this.#stepUpload(data, ['granted', 'stored'], 'sealed')
          : this.#stepUpload(data, ['granted'], 'stored')
      case 'UploadDeletionRequested':
        return this.#stepUpload(data, ['granted', 'stored', 'sealed'], 'deleting')
      case 'UploadDeleted':
        return this.#stepUpload(data, ['granted', 'stored', 'sealed', 'deleting'], undefined)
    }
  }

  #owe(runId: string) {
    if (this.#receivers.has(runId)) this.#attempts.set(runId, 0)
  }

  #attempt(runId: string, data: Facts) {
    const before = this.#attempts.get(runId)
    this.#expect(before !== undefined && data['attempt'] === before + 1, 'an attempt is not the next one')
    this.#attempts.set(runId, Number(data['attempt']))
  }

  #move(data: Facts, sign: 1 | -1) {
    this.balanceMicros += sign * (data['amountMicros'] as number)
    this.#expect(this.balanceMicros === data['balanceAfterMicros'], 'the balance is not the sum of what happened')
    this.#expect(this.balanceMicros >= 0, 'the balance is negative')
  }

  #step(run: Run | undefined, from: Run['state'][], to: Run['state']) {
    this.#expect(run !== undefined && from.includes(run.state), `a run that is ${run?.state} becomes ${to}`)
    if (run) run.state = to
  }

  #stepUpload(data: Facts, from: (Upload | undefined)[], to: Upload | undefined) {
    const id = String(data['uploadId'])
    const state = this.#uploads.get(id)
    this.#expect(from.includes(state), `an upload that is ${state} becomes ${to}`)
    if (to) this.#uploads.set(id, to)
    else this.#uploads.delete(id)
  }

  #remember(idempotency: Facts | undefined, metadata: Facts) {
    if (!idempotency) return
    const key = String(idempotency['key'])
    const atMs = Date.parse(String(metadata['at']))
    const beforeMs = this.#requests.get(key) ?? Number.NEGATIVE_INFINITY
    this.#expect(atMs - beforeMs >= DAY_MS, 'an idempotency key is charged twice within a day')
    this.#requests.set(key, atMs)
  }

  #expect(holds: boolean, fault: string) {
    if (!holds) this.faults.push(`event ${this.#events}: ${fault}`)
  }
}

const idOf = ({ data }: AuditedEvent) => (data as Facts)['runId']

/** JSON in the form of RFC 8785, for what the service writes: no number in it needs an exponent. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}
