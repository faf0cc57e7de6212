import { Command } from 'commander'
import { verifyLog } from '../audit/verify/verify.ts'
import { readLogAddress } from '../boot/config-values.ts'
import { commandLineLogger } from '../boot/core.ts'
import { readConfig } from '../boot/read-config.ts'
import { openLog, openLogReadOnly } from '../boot/stores.ts'
import { copyLog, EMBEDDED_AT_ONCE, isSameLog } from './backup/copy-log.ts'
import { OperatorError } from './operator-error.ts'
import { printOne, progressReport } from './print.ts'

export const logCommand = (): Command => {
  const command = new Command('log')

  command
    .command('copy <from> <to>')
    .description(
      [
        'append to a log the events of another that it lacks, with their chains and seals; a log is the folder of an',
        'embedded log, an address such as esdb://…, or env:NAME for a variable with the address, since other users of',
        'the machine see a password in arguments; the log "from" may be in use, and "to" must be empty or an earlier',
        'copy',
      ].join(' '),
    )
    .option('--json', 'print JSON')
    .action(async (from, to, options) => {
      process.umask(0o077)
      const { logLevel } = readConfig(process.env, { isCommand: true })
      const [source, target] = [readLogAddress('<from>', from), readLogAddress('<to>', to)]
      if (source.kind === 'lmdb' && target.kind === 'lmdb' && isSameLog(source.folder, target.folder))
        throw new OperatorError('<from> and <to> are the same log.')
      const { log: original, isDense } = await openLogReadOnly({ eventStore: source })
      const copy = await openLog({ eventStore: target }, commandLineLogger(logLevel))
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
