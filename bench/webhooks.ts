import { readConfig } from '../src/boot/config.ts'
import { openCore } from '../src/boot/core.ts'
import type { Question } from './support/compare.ts'
import { fillLog } from './support/fill.ts'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'

const DELIVERIES = 10_000

/** Deliveries a second of a service that starts with many of them due, from the first that arrives to the last. */
const deliver = async (receiver: Receiver): Promise<number> => {
  const { folder, discard } = await withFolder()
  const core = await openCore(readConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent' }))
  await fillLog(core.log, { runs: DELIVERIES, accounts: 100, webhookUrl: receiver.url })
  await core.progress.passed(await core.log.head(), 60_000)
  await core.close()
  const rate = receiver.rateOf(DELIVERIES)
  const { child } = await startProcess('tollgate-server.js', {
    env: { DATA_DIR: folder, PORT: '0', ALLOW_PRIVATE_WEBHOOKS: 'true' },
    ...(process.env['BENCH_PROFILE'] && { profile: 'webhooks' }),
  })
  const measured = await rate
  await stopProcess(child)
  await discard()
  return measured
}

const post = async (receiver: Receiver): Promise<number> => {
  const rate = receiver.rateOf(DELIVERIES)
  const { child } = await startProcess('bare-poster.js', { args: [receiver.url, String(DELIVERIES)] })
  const measured = await rate
  await stopProcess(child)
  return measured
}

export const webhooks: Question = {
  name: 'webhooks',
  question: 'webhook deliveries to one local receiver, signed, and each attempt recorded',
  baseline: 'bare undici posting the same body, as many at a time',
  unit: 'deliveries/s',
  goal: { atLeast: 0.4 },
  prepare: async () => {
    const receiver = await startReceiver()
    return { baseline: () => post(receiver), measured: () => deliver(receiver), close: () => receiver.stop() }
  },
}
