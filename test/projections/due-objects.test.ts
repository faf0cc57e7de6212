import t from 'tap'
import { due } from '../../projections/due.ts'
import { dueObjects } from '../../projections/due-objects.ts'
import type { AccountEvent } from '../../schemas/account-events.ts'
import type { DueRow } from '../../schemas/views.ts'
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

const LATER = '2026-01-08T00:00:00.000Z'

/** What is due after a history, by both projections of the view. */
const dueAfter = (...history: AccountEvent[]): Record<string, DueRow> => {
  const rows = new Map<string, DueRow>()
  for (const event of history.map(event => recorded(event)))
    for (const projection of [due, dueObjects])
      for (const key of projection.keys(event)) {
        const row = projection.evolve(rows.get(key), event, key)
        if (row) rows.set(key, row)
        else rows.delete(key)
      }
  return Object.fromEntries(rows)
}

const upload = { accountId: accountId(), uploadId: uploadId(), queue: 'objects/uploads' }
const settle: DueRow = { task: 'seal-upload', ...upload, dueAt: '2026-01-01T00:21:00.000Z', willDeleteAt: LATER }
const sealed = [uploadGranted(), uploadStored(1, { sealed: true })]

t.test('what has come of a grant is looked at when nobody can send any longer', async t => {
  t.same(dueAfter(uploadGranted()), { [uploadId()]: settle })
  t.same(dueAfter(uploadGranted(), uploadStored()), { [uploadId()]: settle }, 'another file may still come')
})

t.test('a file that is there for good is taken away when its time is over', async t => {
  const task: DueRow = { task: 'delete-upload', ...upload, dueAt: LATER }
  t.same(dueAfter(...sealed), { [uploadId()]: task })
  t.same(dueAfter(uploadGranted(), uploadStored(), uploadStored(1, { sealed: true })), { [uploadId()]: task })
})

t.test('a deletion that is asked for is owed at once, or when nobody can send any longer', async t => {
  const task: DueRow = { task: 'delete-upload', ...upload, dueAt: RECORDED_AT }
  t.same(dueAfter(...sealed, uploadDeletionRequested()), { [uploadId()]: task })
  t.same(dueAfter(uploadGranted(), uploadDeletionRequested()), { [uploadId()]: settle })
  t.same(dueAfter(uploadGranted(), uploadStored(), uploadDeletionRequested()), { [uploadId()]: settle })
})

t.test('nothing is owed for a file that is gone', async t => {
  for (const history of [[uploadGranted()], sealed, [...sealed, uploadDeletionRequested()]])
    t.same(dueAfter(...history, uploadDeleted()), {})
})

t.test('one upload is owed beside another', async t => {
  const other = uploadGranted({ upload: 2, expiresAt: '2026-01-01T00:01:00.000Z', willDeleteAt: LATER })
  const rows = dueAfter(...sealed, other, uploadDeleted())
  t.same(rows, {
    [uploadId(2)]: { ...settle, uploadId: uploadId(2), dueAt: '2026-01-01T00:07:00.000Z' },
  })
})

t.test('results are owed beside the webhook of their run, and each is done with on its own', async t => {
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

t.test('nothing is owed for a run that made no file', async t => {
  const run = [...accepted({ after: 90 }), started()]
  t.same(dueAfter(...run, completed()), {})
  t.same(dueAfter(...run, failed(), refunded(10, { after: 100 })), {})
})

t.test('no row is made by both projections', async t => {
  const run = [...accepted({ after: 90, webhook: true }), started(), completed(), completed(1, keptOutput(LATER, 1))]
  const history = [...run, outputDeleted(), delivered(), ...sealed, uploadDeletionRequested(), uploadDeleted()]
  const [ofRuns, ofObjects] = [due, dueObjects].map(
    projection => new Set(history.flatMap(event => projection.keys(recorded(event)))),
  )
  t.same(ofRuns, new Set([runId()]))
  t.same(ofObjects, new Set([`output/${runId()}`, uploadId()]))
})

t.test('what stands in no account owes nothing', async t => {
  for (const event of [uploadGranted(), completed(1, keptOutput(LATER, 1))])
    t.equal(dueObjects.evolve(undefined, recorded(event, 'catalog'), ''), undefined)
})
