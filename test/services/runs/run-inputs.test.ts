import t from 'tap'
import { due } from '../../../projections/due.ts'
import type { Projection } from '../../../projections/projection.ts'
import { isAcceptance } from '../../../schemas/account-events.ts'
import { accountStream, type RecordedEvent } from '../../../schemas/events.ts'
import type { DueRow, StartTask } from '../../../schemas/views.ts'
import { Damaged } from '../../../src/ports/faults.ts'
import { readRunInput } from '../../../src/services/runs/run-inputs.ts'
import { accountId, openAccount, queueRun, runId, startRun, submitRun } from '../../support/account-samples.ts'
import { collect } from '../../support/collect.ts'
import { accountsOn, openLog } from '../../support/engine.ts'

const caller = { kind: 'service' } as const

for (const [start, tasks] of [
  [
    [queueRun(), startRun(), submitRun()],
    ['start-run', 'watch-run', 'watch-run'],
  ],
  [
    [queueRun({ startNow: true }), submitRun()],
    ['watch-run', 'watch-run'],
  ],
] as const)
  t.test(`due rows do not hold the input of a run, which is read from its acceptance: ${tasks[0]}`, async t => {
    const log = await openLog(t)
    const accounts = accountsOn(log)
    for (const command of [openAccount(), ...start]) await accounts.execute(caller, accountId(), command)
    const { on } = due as unknown as Projection<DueRow>
    let row: DueRow | undefined
    const rows: DueRow[] = []
    let input: unknown
    for (const event of (await collect(log.readStream(accountStream(accountId()), 0))) as RecordedEvent[]) {
      if (isAcceptance(event)) input = event.data.input
      row = on[event.type]?.(row, event)
      if (row) rows.push(row)
    }
    t.same(
      rows.map(({ task }) => task),
      tasks,
    )
    for (const each of rows) {
      t.notOk('input' in each)
      t.same(await readRunInput(log, each as StartTask), input)
    }
    const other = { accountId: accountId(), runId: runId(), queuedRevision: 0 }
    for (const wrong of [other, { ...other, queuedRevision: 99 }, { ...(rows[0] as StartTask), runId: runId(2) }])
      await t.rejects(readRunInput(log, wrong), Damaged)
  })
