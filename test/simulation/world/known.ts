import type { SimulatedProcess } from './process.ts'

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
