import { filter, type Observable } from 'rxjs'
import type { Fault } from '../../../schemas/api/error.ts'
import type { Endpoint, Family, FamilyStatus } from '../../../schemas/catalog.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { CatalogRow } from '../../../schemas/views.ts'
import { goesBy, statusOf, visibleTo } from '../../domain/catalog/choose-endpoint.ts'
import { type Check, compileFillingCheck } from '../../engine/validator.ts'
import { type Changes, mayHold } from '../../engine/views/progress.ts'
import type { Reads } from '../../engine/views/reads.ts'
import { Unavailable } from '../../ports/faults.ts'

/** More families than any service offers; a limit so that the catalog is always read whole. */
const MAX_FAMILIES = 1000

/** A family as it is offered to somebody, and the revision of `catalog` that it was read at. */
export interface Offer {
  family: Family
  status: FamilyStatus
  revision: number
}

/** The families on offer, read from their view and kept until it changes. */
export class Catalog {
  readonly #reads: Reads
  readonly #checks = new WeakMap<Endpoint, Check>()
  #rows: Promise<CatalogRow[]> | undefined
  #lastSeen: CatalogRow[] | undefined

  constructor(reads: Reads, changes: Observable<Changes>) {
    this.#reads = reads
    changes.pipe(filter(written => mayHold(written, ({ view }) => view === 'catalog'))).subscribe(() => {
      this.#rows = undefined
    })
  }

  /** All that an account may see, in the order of publication. */
  async listFor(accountId: AccountId): Promise<Offer[]> {
    const account = await this.#reads.get('accounts', accountId)
    return this.list(account?.tester ?? false)
  }

  /** The same for testers, or for everybody else. */
  async list(tester: boolean): Promise<Offer[]> {
    return (await this.#current()).flatMap(({ family, revision }) => {
      const visible = visibleTo(family, tester)
      return visible ? [{ family: visible, status: statusOf(family), revision }] : []
    })
  }

  /** What a model name means to an account; undefined when it means nothing. */
  async find(model: string, tester: boolean): Promise<Offer | undefined> {
    const row = (await this.#current()).find(({ family }) => goesBy(family, model))
    const family = row && visibleTo(row.family, tester)
    return family && { family, status: statusOf(row.family), revision: row.revision }
  }

  /** What is wrong with an input; fills the endpoint's defaults into it. */
  fill(endpoint: Endpoint, input: Record<string, unknown>): Fault[] {
    let check = this.#checks.get(endpoint)
    if (!check) {
      check = compileFillingCheck(endpoint.parametersSchema)
      this.#checks.set(endpoint, check)
    }
    return check(input)
  }

  #current(): Promise<CatalogRow[]> {
    return (this.#rows ?? this.#readAnew()).catch(error => {
      // While the views do not answer, what was on offer last is on offer still: receipts name its revision.
      if (error instanceof Unavailable && this.#lastSeen) return this.#lastSeen
      throw error
    })
  }

  #readAnew(): Promise<CatalogRow[]> {
    const rows = this.#read()
    // What failed is asked for again, unless something newer has taken its place.
    rows.catch(() => {
      if (this.#rows === rows) this.#rows = undefined
    })
    this.#rows = rows
    return rows
  }

  async #read(): Promise<CatalogRow[]> {
    const entries = await this.#reads.list('catalog', 'byAge', { prefix: '', limit: MAX_FAMILIES })
    this.#lastSeen = entries.map(entry => entry.row)
    return this.#lastSeen
  }
}
