import t from 'tap'
import { due } from '../../projections/due.ts'
import { dueObjects } from '../../projections/due-objects.ts'
import type { Projection } from '../../projections/projection.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { DueRow } from '../../schemas/views.ts'
import { ProjectionSet } from '../../src/engine/views/project.ts'
import {
  accepted,
  accountId,
  completed,
  delivered,
  failed,
  keptOutput,
  objectKey,
  outputDeleted,
  RECORDED_AT,
  recorded,
  refunded,
  runId,
  started,
  uploadDeleted,
  uploadDeletionRequested,
  uploadGranted,
  uploadId,
  uploadStored,
} from '../support/account-samples.ts'

const projections = new ProjectionSet([due, dueObjects])

const LATER = '2026-01-08T00:00:00.000Z'

/** The due rows of both projections after a history. */
const dueAfter = (...history: AccountEvent[]): Record<string, DueRow> => {
  const rows = new Map<string, DueRow>()
  for (const event of history.map(event => recorded(event)))
    for (const projection of projections.handling(event.type)) {
      const key = projection.key(event) as string | undefined
      if (key === undefined) continue
      const row = projection.on[event.type]?.(rows.get(key), event) as DueRow | undefined
      if (row) rows.set(key, row)
      else rows.delete(key)
    }
  return Object.fromEntries(rows)
}

const upload = { accountId: accountId(), uploadId: uploadId(), queue: 'objects/uploads' }
const settle: DueRow = { task: 'seal-upload', ...upload, dueAt: '2026-01-01T00:21:00.000Z', willDeleteAt: LATER }
const sealed = [uploadGranted(), uploadStored(1, { sealed: true })]

t.test('a grant is settled when its file can no longer be sent', async t => {
  t.same(dueAfter(uploadGranted()), { [uploadId()]: settle })
  t.same(dueAfter(uploadGranted(), uploadStored()), { [uploadId()]: settle }, 'the file can still be replaced')
})

t.test('a sealed file is due for deletion at the end of its retention', async t => {
  const task: DueRow = { task: 'delete-upload', ...upload, dueAt: LATER }
  t.same(dueAfter(...sealed), { [uploadId()]: task })
  t.same(dueAfter(uploadGranted(), uploadStored(), uploadStored(1, { sealed: true })), { [uploadId()]: task })
})

t.test('a requested deletion is due at once, or when the file can no longer be sent', async t => {
  const task: DueRow = { task: 'delete-upload', ...upload, dueAt: RECORDED_AT }
  t.same(dueAfter(...sealed, uploadDeletionRequested()), { [uploadId()]: task })
  t.same(dueAfter(uploadGranted(), uploadDeletionRequested()), { [uploadId()]: settle })
  t.same(dueAfter(uploadGranted(), uploadStored(), uploadDeletionRequested()), { [uploadId()]: settle })
})

t.test('nothing is due for a deleted file', async t => {
  for (const history of [[uploadGranted()], sealed, [...sealed, uploadDeletionRequested()]])
    t.same(dueAfter(...history, uploadDeleted()), {})
})

t.test('each upload has its own due row', async t => {
  const other = uploadGranted({ upload: 2, expiresAt: '2026-01-01T00:01:00.000Z', willDeleteAt: LATER })
  const rows = dueAfter(...sealed, other, uploadDeleted())
  t.same(rows, {
    [uploadId(2)]: { ...settle, uploadId: uploadId(2), dueAt: '2026-01-01T00:07:00.000Z' },
  })
})

t.test('outputs and the webhook of a run have separate due rows', async t => {
  const run = [...accepted({ after: 90, webhook: true }), started(), completed(1, keptOutput(LATER, 1, 2))]
  const task: DueRow = {
    task: 'delete-output',
    queue: 'objects/outputs',
    dueAt: LATER,
    accountId: accountId(),
    runId: runId(),
    objectKeys: [objectKey(1, 'outputs'), objectKey(2, 'outputs')],
  }
  const rows = dueAfter(...run)
  t.same(Object.keys(rows).sort(), [`output/${runId()}`, runId()].sort())
  t.match(rows[runId()], { task: 'deliver-webhook', attempt: 1 })
  t.same(rows[`output/${runId()}`], task)
  t.same(dueAfter(...run, delivered()), { [`output/${runId()}`]: task })
  t.same(dueAfter(...run, outputDeleted()), { [runId()]: rows[runId()] })
  t.same(dueAfter(...run, delivered(), outputDeleted()), {})
})

t.test('what a failed run may have left is due for deletion, beside its webhook', async t => {
  const run = [...accepted({ after: 90, webhook: true }), started(), failed(1, 'interrupted', LATER)]
  const left = { task: 'delete-left', queue: 'objects/outputs', dueAt: LATER, accountId: accountId(), runId: runId() }
  const rows = dueAfter(...run, refunded(10, { after: 100 }))
  t.same(Object.keys(rows).sort(), [`output/${runId()}`, runId()].sort())
  t.same(rows[`output/${runId()}`], left)
  t.same(Object.keys(dueAfter(...run, refunded(10, { after: 100 }), outputDeleted())), [runId()])
})

t.test('nothing is due for a run without output files', async t => {
  const run = [...accepted({ after: 90 }), started()]
  t.same(dueAfter(...run, completed()), {})
  t.same(dueAfter(...run, failed(), refunded(10, { after: 100 })), {})
})

t.test('the projections share no row', async t => {
  const run = [...accepted({ after: 90, webhook: true }), started(), completed(), completed(1, keptOutput(LATER, 1))]
  const history = [...run, outputDeleted(), delivered(), ...sealed, uploadDeletionRequested(), uploadDeleted()]
  const [ofRuns, ofObjects] = [due, dueObjects].map(
    ({ on, key }: Projection) =>
      new Set(history.flatMap(event => (on[event.type] ? (key(recorded(event)) ?? []) : []))),
  )
  t.same(ofRuns, new Set([runId()]))
  t.same(ofObjects, new Set([`output/${runId()}`, uploadId()]))
})
