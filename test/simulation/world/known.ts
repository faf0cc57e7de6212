import type { AccountCaller } from '../../../src/services/caller.ts'
import { unwrap } from '../../support/unwrap.ts'
import type { Running, SimulatedProcess } from './process.ts'
import type { World } from './world.ts'

/** Positions up to which clients know their accounts, by account and process. */
export class Known {
  readonly #positions = new Map<string, number>()

  at(accountId: string, { name }: SimulatedProcess): number {
    return this.#positions.get(`${accountId} ${name}`) ?? -1
  }

  note(accountId: string, process: SimulatedProcess, position: number) {
    this.#positions.set(`${accountId} ${process.name}`, Math.max(position, this.at(accountId, process)))
  }
}

/**
 * The position up to which the next read of a client must show its account: that of what this process has acknowledged
 * or shown, or of all acknowledged writes, if the client names their position.
 */
export const readableSince = async (
  { chance, truth, processes }: World,
  { services }: Running,
  process: SimulatedProcess,
  caller: AccountCaller,
  what: 'acknowledged' | 'shown',
): Promise<number> => {
  const { accountId } = caller
  const since = truth[what].at(accountId, process)
  if (chance.happens(0.5)) return since
  const last = Math.max(...processes.map(each => truth.acknowledged.at(accountId, each)))
  unwrap(await services.positions.wait(caller, last))
  return Math.max(since, last)
}
