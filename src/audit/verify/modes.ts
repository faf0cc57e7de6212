import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

const SANDBOX = 'sandbox'

type Mode = 'live' | 'test'

/**
 * A key makes and changes only what is of its mode, a test key has no budget and creates and revokes no live key, and a
 * test run is done by the sandbox for nothing.
 */
export class Modes implements Rule {
  readonly #keys = new Map<unknown, Mode>()
  /** The runs and uploads of test keys. */
  readonly #tests = new Set<unknown>()

  take({ type, data, metadata }: AuditedEvent, report: Report) {
    const { keyId: actorKeyId } = metadata.actor as { keyId?: string }
    const actorMode = this.#keys.get(actorKeyId)
    if (type === 'ApiKeyCreated') {
      const mode = modeOf(data)
      this.#keys.set(data['keyId'], mode)
      if (mode === 'test' && data['budget'] !== undefined) report('a test key has a budget')
      if (mode === 'live' && actorMode === 'test') report('a test key creates a live key')
      return
    }
    if (type === 'ApiKeyRevoked' && actorMode === 'test' && this.#keys.get(data['keyId']) === 'live')
      report('a test key revokes a live key')
    const id = data['runId'] ?? data['uploadId']
    if (id === undefined) return
    if ((type === 'RunQueued' || type === 'UploadGranted') && modeOf(data) === 'test') {
      this.#tests.add(id)
      if (actorMode === undefined) report('no key asks for it, and it is in test mode')
    }
    const mode = this.#tests.has(id) ? 'test' : 'live'
    if (actorMode !== undefined && actorMode !== mode)
      report(`${actorKeyId} is a ${actorMode} key, and ${id} is ${mode}`)
    if (mode === 'test') checkCost(type, data, report)
  }
}

const modeOf = ({ livemode }: AuditedEvent['data']): Mode => (livemode === false ? 'test' : 'live')

const checkCost = (type: string, { upstream }: AuditedEvent['data'], report: Report) => {
  if (type === 'ProviderCostRecorded') report('a test run has a cost')
  const { provider = SANDBOX } = (upstream ?? {}) as { provider?: string }
  if (provider !== SANDBOX) report(`a test run is at ${provider}, and not in the sandbox`)
}
