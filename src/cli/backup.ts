import { Command } from 'commander'
import { count } from '../audit/decimal.ts'
import { expectDataDir } from '../boot/process.ts'
import { readConfig } from '../boot/read-config.ts'
import { type Backup, backUp } from './backup/back-up.ts'
import { MASTER_SECRET, OBJECTS, SEAL_KEY } from './backup/facts.ts'
import { restore } from './backup/restore.ts'
import { OperatorError } from './operator-error.ts'
import { printOne, progressReport } from './print.ts'

export const backupCommand = (): Command =>
  new Command('backup')
    .argument('<folder>')
    .option('--since <folder>', 'folder of an earlier backup; back up only what is newer')
    .option('--without-secrets', 'leave out the master secret and the key that signs seals; keep them elsewhere')
    .option('--json', 'print JSON')
    .action(async (folder, options) => {
      process.umask(0o077)
      const config = readConfig(process.env, { isCommand: true })
      expectDataDir(config)
      const { since, withoutSecrets = false } = options
      const onProgress = progressReport('checked')
      const backup = await backUp(config, folder, { since, withSecrets: !withoutSecrets, onProgress })
      printOne(toJson(folder, backup), options)
      if (withoutSecrets)
        console.error(
          'The backup has no secrets. Without MASTER_SECRET and the key of the seals, it cannot be used in full.',
        )
      expectSound(backup)
    })

export const restoreCommand = (): Command =>
  new Command('restore')
    .argument('<folders...>')
    .option('--json', 'print JSON')
    .action(async (folders, options) => {
      process.umask(0o077)
      const config = readConfig(process.env, { isCommand: true })
      const { verification, missingSecrets, erasures, erased } = await restore(
        config,
        folders,
        progressReport('checked'),
      )
      const { head: position, events, seal } = verification
      printOne({ data_dir: config.dataDir, position, events, seal: seal?.name ?? null, erased }, options)
      if (missingSecrets.length > 0)
        console.error(
          [
            'The backup lacks secrets. Before you start the service, put those of the log into',
            `${missingSecrets.join(' and ')}.`,
            ...(erasures.length > 0 ? [`Then erase with "tollgate accounts erase": ${erasures.join(', ')}.`] : []),
          ].join(' '),
        )
      expectSound({ verification })
    })

const toJson = (folder: string, { facts, verification, files }: Backup) => ({
  folder,
  position: facts.position,
  since: facts.since ?? null,
  events: facts.position - (facts.since ?? -1),
  files: files.filter(path => path.startsWith(`${OBJECTS}/`)).length,
  secrets: files.filter(path => [MASTER_SECRET, SEAL_KEY].includes(path)).join(', ') || null,
  seal: facts.seal ?? null,
  faults: verification.faults.length,
})

/** A faulty log is backed up too: it may be the best that there is. */
const expectSound = ({ verification: { faults } }: Pick<Backup, 'verification'>) => {
  if (faults.length === 0) return
  throw new OperatorError(`The log has ${count(faults.length, 'fault')}: "tollgate audit verify" names them.`)
}
