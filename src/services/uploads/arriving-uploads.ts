import { type AccountId, MAX_ARRIVING_UPLOADS } from '../../../schemas/primitives.ts'
import { refuse } from '../../domain/refusal.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import type { IncomingUpload } from './incoming-upload.ts'

/** Limits the files of each account that arrive at a time: one counts towards the quota only when it is whole. */
export class ArrivingUploads {
  readonly #open = new OpenCounts<AccountId>(MAX_ARRIVING_UPLOADS)

  /** Counts an upload from its beginning until it is finished or discarded. */
  async count(
    { accountId }: AccountCaller,
    begin: () => Promise<Answer<IncomingUpload>>,
  ): Promise<Answer<IncomingUpload>> {
    const close = this.#open.open(accountId)
    if (!close) return refuse('too_many_arriving_uploads', { limit: MAX_ARRIVING_UPLOADS })
    let begun: Answer<IncomingUpload> | undefined
    try {
      begun = await begin()
    } finally {
      if (!begun || 'refuse' in begun) close()
    }
    if ('refuse' in begun) return begun
    const { body, finish, discard } = begun.value
    return answer({ body, finish: form => finish(form).finally(close), discard: () => discard().finally(close) })
  }
}
