import { Command } from 'commander'
import { verifyLog } from '../audit/verify/verify.ts'
import { readLogAddress } from '../boot/config-values.ts'
import { commandLineLogger } from '../boot/core.ts'
import { openLog, openLogReadOnly } from '../boot/stores.ts'
import { copyLog, EMBEDDED_AT_ONCE } from './backup/copy-log.ts'
import { OperatorError } from './operator-error.ts'
import { printOne, progressReport } from './print.ts'

export const logCommand = (): Command => {
  const command = new Command('log')

  command
    .command('copy <from> <to>')
    .description(
      'append to a log the events of another that it lacks, with their chains and seals; a log is the folder of an ' +
        'embedded log, or an address such as esdb://…; the log "from" may be in use, and "to" must be empty or an ' +
        'earlier copy',
    )
    .option('--json', 'print JSON')
    .action(async (from, to, options) => {
      process.umask(0o077)
      const [source, target] = [readLogAddress('<from>', from), readLogAddress('<to>', to)]
      const { log: original, isDense } = await openLogReadOnly({ eventStore: source })
      const copy = await openLog({ eventStore: target }, commandLineLogger())
      try {
        const atOnce = target.kind === 'lmdb' ? EMBEDDED_AT_ONCE : 1
        const copied = await copyLog(original, copy, { atOnce, onProgress: progressReport('copied') })
        const verification = await verifyLog(copy, {
          isDense: isDense && atOnce > 1,
          onProgress: progressReport('checked'),
        })
        const { events, seal, faults } = verification as NonNullable<typeof verification>
        printOne({ copied, events, seal: seal?.name ?? null, faults: faults.length }, options)
        if (faults.length > 0) throw new OperatorError('"tollgate audit verify" names the faults.')
      } finally {
        await Promise.all([original.close(), copy.close()])
      }
    })

  return command
}
