import type { RunRow, RunStatus } from '../../../schemas/views.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import { findAccount } from '../accounts/find-account.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { firstRunIdAt } from '../ids.ts'
import type { Reads } from '../views/reads.ts'

/** `model` is a family or endpoint. */
export interface RunsSought {
  accountId?: string | undefined
  status?: RunStatus | undefined
  model?: string | undefined
  sinceMs?: number | undefined
  limit: number
}

interface Dependencies {
  reads: Reads
}

/** Lists the runs of all accounts, for operators. */
export class RunSearch {
  readonly #dependencies: Dependencies

  readonly permissions = { list: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The newest runs that match, newest first. May read all runs. */
  async list(caller: Caller, { accountId, status, model, sinceMs, limit }: RunsSought): Promise<Answer<RunRow[]>> {
    const { reads } = this.#dependencies
    if (accountId !== undefined) {
      const account = await findAccount(reads, caller, accountId)
      if ('refuse' in account) return account
    }
    const [index, prefix] = accountId === undefined ? ['byId', ''] : [BY_KEY, `${accountId}/`]
    const before = sinceMs === undefined ? undefined : prefix + firstRunIdAt(sinceMs)
    const found: RunRow[] = []
    for await (const { row } of reads.scan('runs', index, { prefix, before, newestFirst: true })) {
      if ((status && row.status !== status) || (model && row.model !== model && row.endpoint !== model)) continue
      found.push(row)
      if (found.length === limit) break
    }
    return answer(found)
  }
}
