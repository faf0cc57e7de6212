import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { type ProviderName, providerNames } from '../../../schemas/binding.ts'
import type { Config } from '../../boot/config.ts'
import { readMasterSecret } from '../../boot/master-secret.ts'
import { expectDataDir, keepFilesPrivate } from '../../boot/process.ts'
import { keyVariables, readConfig } from '../../boot/read-config.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Caller } from '../../services/caller.ts'
import type { CheckedAccount } from '../../services/providers/check-accounts.ts'
import { toColumns } from '../columns.ts'
import { operatorOf } from '../operator.ts'
import { OperatorError } from '../operator-error.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

/** The exit code if an account cannot be used. */
const FAULTY = 1

/** The exit code if there is no account to check. */
const UNCONFIGURED = 2

export const checkCommand = (): Command =>
  new Command('check')
    .argument('[provider]', 'provider, such as openai (default: all providers with a key)')
    .description(
      'test each key with one call to its provider, at almost no cost; exits with 1 if a test fails, and with 2 if ' +
        'there is no key to test',
    )
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options, command) => {
      const config = readConfig(process.env, { isCommand: true })
      const providers = chosenOf(config, name)
      // Loads the adapters of all vendors, which other commands do not need.
      const { checkVendorAccounts } = await import('../../boot/providers.ts')
      expectDataDir(config)
      keepFilesPrivate(config.dataDir)
      const masterSecret = readMasterSecret(config.masterSecret)
      const checked = await checkVendorAccounts({ config: { ...config, providers }, masterSecret })
      const working = checked.filter(({ fault }) => fault === undefined)
      const waited = working.length > 0 && hasLog(config) ? await endWaits(operatorOf(command), working) : []
      const rows = checked.map(each => ({ ...each, waited: waited.includes(each) }))
      console.log(options.json ? JSON.stringify(rows.map(shown)) : toColumns(rows.map(rowOf)))
      if (checked.some(({ fault }) => fault !== undefined)) process.exitCode = FAULTY
    })

/** Before a service has started for the first time, there is no log, and no circuit breaker is open. */
const hasLog = ({ eventStore }: Config): boolean => eventStore.kind !== 'lmdb' || existsSync(eventStore.folder)

/**
 * Closes the circuit breakers of accounts that work, and returns the accounts whose breakers were open. The check also
 * works without the stores.
 */
const endWaits = async (caller: Caller, working: CheckedAccount[]): Promise<CheckedAccount[]> => {
  const waited: CheckedAccount[] = []
  try {
    await withCore(async ({ services }) => {
      for (const each of working) {
        const { provider, account } = each
        const { isChange } = unwrap(await services.routing.endWait(caller, { provider, account }))
        if (isChange) waited.push(each)
      }
    })
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    console.error(`Warning: a working account may get no runs for up to 5 more minutes: ${error.message}.`)
  }
  return waited
}

/** Throws OperatorError if there is nothing to check. */
const chosenOf = ({ providers }: Config, name: string | undefined): Config['providers'] => {
  if (name !== undefined && !(providerNames as readonly string[]).includes(name))
    throw new OperatorError(`There is no provider ${name} to check. Choose one of ${providerNames.join(', ')}.`)
  const chosen = name === undefined ? providers : providers.filter(({ provider }) => provider === name)
  if (chosen.length > 0) return chosen
  throw new OperatorError(
    name === undefined
      ? `No provider has a key. Set one of ${providerNames.map(keyOf).join(', ')}.`
      : `${name} has no key. Set ${keyOf(name as ProviderName)}.`,
    UNCONFIGURED,
  )
}

const keyOf = (provider: ProviderName): string => keyVariables[provider][0]

/** `waited` if the circuit breaker of the account was open. */
type Checked = CheckedAccount & { waited: boolean }

const shown = ({ provider, account, fault, waited }: Checked) => ({
  ...{ provider, account },
  ...{ works: fault === undefined, fault: fault ?? null, waited },
})

const rowOf = ({ provider, account, fault, waited }: Checked): string[] => [
  provider,
  account,
  fault === undefined ? `works${waited ? ', and gets runs again' : ''}` : `does not work: ${fault}`,
]
