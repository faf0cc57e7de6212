import type { AuditorId } from '../../../schemas/primitives.ts'
import type { Auditor } from '../../domain/auditors/auditors.ts'
import { sha256 } from '../../domain/digest.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { newAuditorId } from '../ids.ts'
import type { AuditorKeys } from './auditor-keys.ts'

interface Dependencies {
  auditorKeys: AuditorKeys
  random: Random
  /** The prefix of a key's text. */
  keyPrefix: string
}

/** An auditor by ID or, if the key is active, by name. */
type NamedAuditor = { auditorId: string } | { name: string }

/** Creates, lists and revokes the keys of auditors. */
export class Auditors {
  readonly #dependencies: Dependencies

  readonly permissions = { create: 'operate', list: 'operate', revoke: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Creates a key. Returns its text, which the log does not hold: the log has the hash. */
  async create(caller: Caller, name: string): Promise<Answer<{ auditorId: AuditorId; apiKey: string }>> {
    const { auditorKeys, random, keyPrefix } = this.#dependencies
    const apiKey = `${keyPrefix}_ak_${random.hex(16)}`
    const auditorId = newAuditorId(random)
    const key = { auditorId, name, hash: sha256(apiKey), lastFour: apiKey.slice(-4) }
    const outcome = await auditorKeys.execute(caller, { type: 'CreateAuditorKey', ...key })
    return 'refuse' in outcome ? outcome : answer({ auditorId, apiKey })
  }

  /** Lists all auditors, oldest first, including those with revoked keys. */
  async list(_caller: Caller): Promise<Answer<Auditor[]>> {
    const { all } = await this.#dependencies.auditorKeys.state()
    return answer([...all.values()])
  }

  /** Revokes a key. From then on, every process refuses it. */
  async revoke(caller: Caller, named: NamedAuditor): Promise<Answer<{ auditorId: AuditorId }>> {
    const { auditorKeys } = this.#dependencies
    const auditorId = 'name' in named ? await this.#idOf(named.name) : (named.auditorId as AuditorId)
    if (auditorId === undefined) return refuse('auditor_not_found')
    const outcome = await auditorKeys.execute(caller, { type: 'RevokeAuditorKey', auditorId })
    return 'refuse' in outcome ? outcome : answer({ auditorId })
  }

  async #idOf(name: string): Promise<AuditorId | undefined> {
    const { all, active } = await this.#dependencies.auditorKeys.state()
    return [...active.values()].find(id => all.get(id)?.name === name)
  }
}

/** Whether a text has the form of an auditor's key, with any prefix. Keys of accounts never have this form. */
export const isAuditorKey = (apiKey: string): boolean => /_ak_[0-9a-f]{32}$/.test(apiKey)
