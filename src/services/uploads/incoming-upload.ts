import { pipeline, Transform, type Writable } from 'node:stream'
import { fold } from '../../../projections/define.ts'
import { uploads } from '../../../projections/uploads.ts'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { UploadForm } from '../../../schemas/api/upload.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { UploadRow } from '../../../schemas/views.ts'
import { FILE_PARAMETERS, type FileParameter } from '../../domain/catalog/inputs.ts'
import { extensionFor } from '../../domain/media-types.ts'
import { refuse } from '../../domain/refusal.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { IncomingObject, ObjectStore } from '../../ports/object-store.ts'
import { type Answer, answer } from '../answer.ts'
import type { AccountCaller } from '../caller.ts'
import { Inspection, type InspectionResult } from './inspection.ts'
import type { UploadGrants } from './upload-grants.ts'
import { contentRefusal, declaredType, inputRefusal } from './upload-rules.ts'
import type { UploadSettlement } from './upload-settlement.ts'

/** A file that is being received and is not visible yet. The caller must call either `finish` or `discard`, once. */
export interface IncomingUpload {
  readonly body: Writable
  /** Resolves once the file has arrived in full: to its digest, or to the refusal of a file that no run could use. */
  checkInput(parameter: FileParameter): Promise<Answer<{ sha256: string }>>
  /**
   * Accepts the file once it has arrived in full. If the file is refused, or on Unavailable, nothing is left behind.
   */
  finish(form: UploadForm): Promise<Answer<UploadRow>>
  discard(): Promise<void>
}

/** How long storing may take after the grant, when the file has already arrived. */
const GRANT_MS = 60_000

interface Dependencies {
  objects: ObjectStore
  grants: UploadGrants
  settlement: UploadSettlement
}

/** Starts to receive a file. */
export const receiveUpload = async (
  dependencies: Dependencies,
  caller: AccountCaller,
  declaredAs: string | undefined,
): Promise<Answer<IncomingUpload>> => {
  const declared = declaredType(declaredAs)
  if ('refuse' in declared) return declared
  const incoming = await dependencies.objects.receive()
  const inspection = new Inspection()
  let inspected: Promise<InspectionResult> | undefined
  const inspect = async () => {
    await written
    inspected ??= inspection.result()
    return inspected
  }
  const body = new Transform({
    transform: (chunk, _encoding, done) => {
      inspection.update(chunk)
      done(null, chunk)
    },
  })
  const written = new Promise<void>((resolve, reject) => {
    pipeline(body, incoming.body, error => (error ? reject(error) : resolve()))
  })
  // `finish` rejects with this error. After `discard`, it does not matter.
  written.catch(() => undefined)

  return answer({
    body,
    checkInput: async parameter => {
      const found = await inspect()
      const reason = inputRefusal(found, FILE_PARAMETERS[parameter], '')
      return reason ? refuse('input_file_refused', { parameter, reason }) : answer(found)
    },
    discard: () => {
      body.destroy()
      return incoming.discard()
    },
    finish: async form => {
      let admitted: Admitted | undefined
      try {
        const admission = await admit(dependencies, caller, await inspect(), { declared: declared.value, form })
        if ('refuse' in admission) return admission
        admitted = admission.value
      } finally {
        if (!admitted) await incoming.discard()
      }
      return store(dependencies, caller, incoming, admitted)
    },
  })
}

interface Received {
  declared: string | undefined
  form: UploadForm
}

/** The grant precedes the file, so every stored file has an owner. */
const admit = async (
  { grants }: Dependencies,
  caller: AccountCaller,
  inspected: InspectionResult,
  { declared, form }: Received,
) => {
  const refusal = contentRefusal(inspected, declared)
  if (refusal) return { refuse: refusal }
  // Files of unknown type were refused above.
  const mimeType = inspected.mimeType as string
  const named = { ...form, filename: form.filename ?? `file.${extensionFor(mimeType)}` }
  const terms = {
    method: 'inline',
    form: named,
    mimeType,
    grantMs: GRANT_MS,
    maxSizeBytes: inspected.sizeBytes,
  } as const
  const granted = await grants.give(caller, terms)
  return 'refuse' in granted ? granted : answer({ inspected, ...granted.value })
}

type Admitted = Extract<Awaited<ReturnType<typeof admit>>, { value: unknown }>['value']

const store = async (
  { objects, settlement }: Dependencies,
  caller: AccountCaller,
  incoming: IncomingObject,
  { upload, inspected, events }: Admitted,
): Promise<Answer<UploadRow>> => {
  await incoming.store(upload.objectKey, upload.mimeType)
  const own = { ...upload, accountId: caller.accountId }
  const outcome = await settlement.store(caller, own, inspected, true)
  if ('refuse' in outcome) {
    const { code } = outcome.refuse
    // Due work has stored this file already: no other file is ever sent to this place.
    if (code === 'upload_already_stored') return answer({ ...rowOf(events), ...factsOf(inspected) })
    if (code === 'account_suspended' || code === 'key_revoked' || code === 'forbidden') {
      // Due work may have stored the file before the account or the key changed. The log decides.
      await settlement.withdraw({ kind: 'service', requestId: caller.requestId }, own)
      return outcome
    }
    await objects.delete(upload.objectKey)
    throw new Unavailable('the upload took longer than its grant')
  }
  return answer(rowOf([...events, ...outcome.accept]))
}

const rowOf = (events: Recorded<AccountEvent>[]) => fold(uploads, events) as UploadRow

const factsOf = ({ sizeBytes, sha256 }: InspectionResult) =>
  ({ status: 'stored', sizeBytes, sha256, sealed: true }) as const
