import { jobLookup, lastPart, requestLookup } from '../../../projections/lookups.ts'
import { uploadKey } from '../../../projections/uploads.ts'
import { type AccountId, REQUEST_ID, type RunId } from '../../../schemas/primitives.ts'
import type { KeyRow, LookupRow, PurchaseRow, RunRow, UploadRow } from '../../../schemas/views.ts'
import { sha256 } from '../../domain/digest.ts'
import { ownerName } from '../../domain/login/identity.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, type Caller, isSeenBy } from '../caller.ts'
import { isAccountId, isPurchaseId, isUploadId, parseRunId } from '../ids.ts'
import { type RunRowDependencies, readRunRow } from '../runs/run-rows.ts'
import { findById } from '../views/find-by-id.ts'

/** Something that an ID or an address leads to. */
export type Found =
  | { kind: 'account'; accountId: AccountId; name: string }
  | { kind: 'run'; run: RunRow }
  | { kind: 'key'; key: KeyRow }
  | { kind: 'upload'; upload: UploadRow }
  | { kind: 'purchase'; purchase: PurchaseRow }

/** The longest ID is that of a provider's job. */
const MAX_TEXT = 255

/** Runs that one ID of a request or a job leads to. A client may repeat an ID at will. */
const MAX_RUNS = 20

interface Dependencies extends RunRowDependencies {
  accounts: Pick<Accounts, 'find' | 'findByEmail'>
}

/** Finds things by any of their IDs. Each kind of ID has its own form, or its own index. */
export class Lookups {
  readonly #dependencies: Dependencies

  readonly permissions = { own: 'read', any: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** The caller's own run, key, upload or purchase, by its ID or by the ID of the request that created a run. */
  async own(caller: AccountCaller, text: string): Promise<Answer<Found[]>> {
    const { reads } = this.#dependencies
    const { accountId } = caller
    if (!isPossible(text)) return answer([])
    await reads.ownWrites(accountId)
    const found = await this.#find(text, accountId)
    return answer(
      found.filter(each => each.kind === 'account' || each.kind === 'purchase' || isSeenBy(caller, rowOf(each))),
    )
  }

  /** Anything of any account. */
  async any(caller: Caller, text: string): Promise<Answer<Found[]>> {
    if (!isPossible(text)) return answer([])
    const found = await this.#find(text, undefined)
    if (found.length > 0) return answer(found)
    const account = await this.#account(caller, text)
    return answer(account ? [account] : await this.#runsOfJob(text))
  }

  async #find(text: string, accountId: AccountId | undefined): Promise<Found[]> {
    const { reads } = this.#dependencies
    const runId = parseRunId(text)
    const run = runId && (await this.#run(runId, accountId))
    if (run) return [{ kind: 'run', run }]
    if (isUploadId(text)) {
      const upload = accountId
        ? await reads.get('uploads', uploadKey(accountId, text))
        : await findById(reads, 'uploads', text)
      return upload ? [{ kind: 'upload', upload }] : []
    }
    if (isPurchaseId(text)) {
      const purchase = await findById(reads, 'purchases', text)
      return purchase && isOf(accountId, purchase) ? [{ kind: 'purchase', purchase }] : []
    }
    // A whole key, too, finds its row, whose key is the digest.
    const key = (await findById(reads, 'keys', text)) ?? (await reads.get('keys', sha256(text)))
    if (key && isOf(accountId, key)) return [{ kind: 'key', key }]
    return REQUEST.test(text) ? this.#runsOfRequest(text, accountId) : []
  }

  async #run(runId: RunId, accountId: AccountId | undefined): Promise<RunRow | undefined> {
    const { reads } = this.#dependencies
    const owner =
      accountId ?? ((await findById(reads, 'runs', runId)) ?? (await findById(reads, 'archivedRuns', runId)))?.accountId
    return owner && readRunRow(this.#dependencies, owner, runId)
  }

  async #runsOfRequest(requestId: string, accountId: AccountId | undefined): Promise<Found[]> {
    const rows = await this.#rowsAt(requestLookup(requestId))
    return this.#runsIn(rows.filter(row => isOf(accountId, row)))
  }

  /** By the whole ID of a job, or by its last part. */
  async #runsOfJob(text: string): Promise<Found[]> {
    const rows = await this.#rowsAt(jobLookup(text))
    return this.#runsIn(rows.filter(({ jobId = '' }) => jobId === text || lastPart(jobId) === text))
  }

  async #rowsAt(prefix: string): Promise<LookupRow[]> {
    const range = { prefix, newestFirst: true, limit: MAX_RUNS }
    return (await this.#dependencies.reads.list('lookups', BY_KEY, range)).map(({ row }) => row)
  }

  async #runsIn(rows: LookupRow[]): Promise<Found[]> {
    const runs = await Promise.all(rows.map(row => readRunRow(this.#dependencies, row.accountId, row.runId)))
    return runs.flatMap(run => (run ? [{ kind: 'run' as const, run }] : []))
  }

  async #account(caller: Caller, text: string): Promise<Found | undefined> {
    const { accounts } = this.#dependencies
    const found = isAccountId(text)
      ? await accounts.find(caller, text)
      : text.includes('@')
        ? await accounts.findByEmail(caller, text)
        : undefined
    if (!found || 'refuse' in found) return undefined
    const { account } = found.value
    return { kind: 'account', accountId: account.accountId, name: ownerName(account) }
  }
}

const isOf = (accountId: AccountId | undefined, row: { accountId: AccountId }): boolean =>
  accountId === undefined || row.accountId === accountId

const rowOf = (found: Exclude<Found, { kind: 'account' | 'purchase' }>) =>
  found.kind === 'run' ? found.run : found.kind === 'key' ? found.key : found.upload

const REQUEST = new RegExp(`^${REQUEST_ID}$`)

/** Other texts are no ID, and could be no place in an index. */
const isPossible = (text: string): boolean => text.length <= MAX_TEXT && /^[\x21-\x7e\p{L}\p{M}\p{N}]+$/u.test(text)
