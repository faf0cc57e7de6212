import { pathToFileURL } from 'node:url'
import { accountStream } from '../../schemas/events.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openLmdbEventLog } from '../../src/adapters/event-log/lmdb.ts'
import { systemRandom } from '../../src/adapters/random/system.ts'
import { account } from '../../src/domain/account/account.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { Mailbox } from '../../src/engine/streams/mailbox.ts'
import { Streams } from '../../src/engine/streams/stream.ts'
import { eventCodec } from '../../src/services/event-codec.ts'
import { newAccountId, newRunId } from '../../src/services/ids.ts'
import { outsideProgram } from '../../test/support/outside.ts'
import { opening } from './account-writer.ts'
import { queue } from './fill.ts'
import { input, receipt } from './samples.ts'

/** One side of `durable-steps`: callers accept and settle runs, each its next when the last is settled. */
const [side, place = '', callers = ''] = process.argv.slice(2)

/** Resolves when the caller's next run is settled. */
type Settle = (caller: number) => Promise<unknown>

const output = { artifacts: [], text: 'done' }

/** Account mailboxes on the embedded log: one durable append accepts a run, and one settles it. */
const openTollgate = async (folder: string, callers: number): Promise<Settle> => {
  const log = openLmdbEventLog(folder, error => {
    throw error
  })
  const streams = new Streams({ decider: account, codec: eventCodec, log, clock: systemClock, random: systemRandom })
  const mailboxes = await Promise.all(
    Array.from({ length: callers }, async (_, index) => {
      const accountId = newAccountId(systemRandom)
      const mailbox = new Mailbox(accountStream(accountId), streams)
      const execute = async (command: AccountCommand) => {
        const outcome = await mailbox.execute(command, { actor: { kind: 'operator' } })
        if ('refuse' in outcome) throw new Error(outcome.refuse.code)
      }
      await execute(opening(accountId, `a${index}@b.c`))
      return execute
    }),
  )
  return async caller => {
    const execute = mailboxes[caller] as (command: AccountCommand) => Promise<void>
    const runId = newRunId(systemRandom)
    await execute(queue(runId, receipt))
    await execute({ type: 'CompleteRun', runId, output })
  }
}

/** As much of the library as is used here. It is installed apart, in `test/outside`. */
interface Dbos {
  setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string }): void
  registerWorkflow<Input, Output>(run: (input: Input) => Promise<Output>, options: { name: string }): typeof run
  runStep<Output>(step: () => Promise<Output>, options: { name: string }): Promise<Output>
  launch(): Promise<void>
}

/** A workflow of two steps, whose input, step results and output are durable. */
const openDbos = async (systemDatabaseUrl: string): Promise<Settle> => {
  const [, script] = outsideProgram('dbos')
  const { DBOS } = (await import(pathToFileURL(script).href)) as { DBOS: Dbos }
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl, logLevel: 'error' })
  const settle = DBOS.registerWorkflow(
    async (_: object) => {
      await DBOS.runStep(async () => receipt, { name: 'accept' })
      return DBOS.runStep(async () => output, { name: 'settle' })
    },
    { name: 'run' },
  )
  await DBOS.launch()
  return () => settle(input)
}

const settle = await (side === 'dbos' ? openDbos : openTollgate)(place, Number(callers))
process.on('message', async (message: 'stop' | { seconds: number }) => {
  if (message === 'stop') process.exit(0)
  const startMs = performance.now()
  const elapsedSeconds = () => (performance.now() - startMs) / 1000
  let operations = 0
  const call = async (caller: number) => {
    while (elapsedSeconds() < message.seconds) {
      await settle(caller)
      operations += 1
    }
  }
  await Promise.all(Array.from({ length: Number(callers) }, (_, caller) => call(caller)))
  process.send?.({ operations, value: operations / elapsedSeconds() })
})
process.send?.('ready')
