import type { Readable } from 'node:stream'
import { MAX_ARRIVING_PUTS } from '../../../schemas/primitives.ts'
import { hasPlace, sendRefusal } from '../../domain/account/uploads.ts'
import { refuse } from '../../domain/refusal.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { Unavailable } from '../../ports/faults.ts'
import {
  type ByteRange,
  type IncomingPut,
  type ObjectFacts,
  type PutGrant,
  PutRefused,
} from '../../ports/object-store.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { FileStates, type FileStatesDependencies } from '../uploads/file-states.ts'
import { readPurpose } from '../uploads/upload-grants.ts'
import { isUploadKey, isVaultKey } from './addresses.ts'

/** `isInspected` is false for an upload with unknown content. The type in its key proves nothing. */
interface FileFacts extends ObjectFacts {
  isInspected: boolean
}

/** Results and uploads, for everyone who has their addresses. */
export class Files {
  readonly #dependencies: FileStatesDependencies
  readonly #states: FileStates
  /** Files that are arriving at each key. The quota covers one file; a second is a retry. */
  readonly #puts = new OpenCounts<string>(MAX_ARRIVING_PUTS)

  /** Everyone who has the address of a file may use it. */
  readonly permissions = { stat: 'public', read: 'public', receive: 'public' } as const

  constructor(dependencies: FileStatesDependencies) {
    this.#dependencies = dependencies
    this.#states = new FileStates(dependencies)
  }

  /** Undefined if there is no such file, or if the file was sent to a withdrawn address. */
  async stat(_caller: Caller, key: string): Promise<Answer<FileFacts | undefined>> {
    const facts = isVaultKey(key) ? undefined : await this.#dependencies.objects.stat(key)
    if (!facts) return answer(undefined)
    const state = isUploadKey(key) ? await this.#states.of(key, facts) : 'inspected'
    return answer(state === 'withdrawn' ? undefined : { ...facts, isInspected: state === 'inspected' })
  }

  /** The bytes of a file. Rejects with Unavailable if the file was replaced since `facts` was read. */
  async read(_caller: Caller, key: string, { etag }: ObjectFacts, range?: ByteRange): Promise<Answer<Readable>> {
    const object = await this.#dependencies.objects.get(key, range)
    if (object?.etag === etag) return answer(object.body)
    object?.body.destroy()
    throw new Unavailable(`${key} was replaced or deleted just now`)
  }

  /** Receives a file at a presigned address of this service, and returns its facts. Rejects with Unavailable. */
  async receive(_caller: Caller, put: IncomingPut): Promise<Answer<ObjectFacts | undefined>> {
    const { objects } = this.#dependencies
    const accepted = await this.#accept(put)
    if (accepted && 'refuse' in accepted) return accepted
    // The upload may have been deleted before its file arrived.
    if (accepted && !(await this.#hasPlace(accepted))) {
      await objects.delete(put.key)
      return refuse('put_address_withdrawn')
    }
    return answer(await objects.stat(put.key))
  }

  async #accept(put: IncomingPut): Promise<PutGrant | Refused | undefined> {
    let close: (() => void) | undefined
    const admit = async (grant: PutGrant) => {
      await this.#admit(grant)
      // Opened only now, so that only senders with the address use up its limit.
      close ??= this.#open(grant)
    }
    try {
      return await this.#dependencies.objects.acceptPut?.(put, admit)
    } catch (error) {
      return refusalOf(error)
    } finally {
      close?.()
    }
  }

  #open({ key }: PutGrant): () => void {
    const close = this.#puts.open(key)
    if (close) return close
    throw new PutRefused({ code: 'too_many_puts', limit: MAX_ARRIVING_PUTS })
  }

  async #admit({ purpose }: PutGrant): Promise<void> {
    const { accountId, ...sent } = readPurpose(purpose)
    const refusal = sendRefusal(sent, await this.#dependencies.accounts.currentState(accountId))
    if (refusal) throw new PutRefused(refusal)
  }

  async #hasPlace({ purpose }: PutGrant): Promise<boolean> {
    const { accountId, uploadId } = readPurpose(purpose)
    return hasPlace(uploadId, await this.#dependencies.accounts.currentState(accountId))
  }
}

const refusalOf = (error: unknown): Refused => {
  if (error instanceof PutRefused) return { refuse: error.refusal }
  throw error
}
