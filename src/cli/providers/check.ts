import { Command } from 'commander'
import { type ProviderName, providerNames } from '../../../schemas/binding.ts'
import type { Config } from '../../boot/config.ts'
import { readMasterSecret } from '../../boot/master-secret.ts'
import { keepFilesPrivate } from '../../boot/private-files.ts'
import { keyVariables, readConfig } from '../../boot/read-config.ts'
import type { CheckedAccount } from '../../services/providers/check-accounts.ts'
import { toColumns } from '../columns.ts'
import { OperatorError } from '../operator-error.ts'

/** An account cannot be used. */
const FAULTY = 1

/** There is no account to check. */
const UNCONFIGURED = 2

export const checkCommand = (): Command =>
  new Command('check')
    .argument('[provider]', 'such as openai; all that have a key by default')
    .description(
      'calls each provider once with each of its keys, at next to no cost, and says what works; exits with 1 if ' +
        'something does not, and with 2 if there is no key',
    )
    .option('--json', 'print JSON')
    .action(async (name: string | undefined, options) => {
      const config = readConfig(process.env)
      const providers = chosenOf(config, name)
      const secrets = providers.flatMap(({ keys }) => keys)
      // It loads the adapters of all vendors, which other commands do not need.
      const { checkVendorAccounts } = await import('../../boot/providers.ts')
      keepFilesPrivate(config.dataDir)
      const masterSecret = readMasterSecret(config.masterSecret)
      const found = await checkVendorAccounts({ config: { ...config, providers }, masterSecret })
      const checked = found.map(each => withoutSecrets(each, secrets))
      console.log(options.json ? JSON.stringify(checked.map(shown)) : toColumns(checked.map(rowOf)))
      if (checked.some(({ fault }) => fault !== undefined)) process.exitCode = FAULTY
    })

/** Throws OperatorError if there is nothing to check. */
const chosenOf = ({ providers }: Config, name: string | undefined): Config['providers'] => {
  if (name !== undefined && !(providerNames as readonly string[]).includes(name))
    throw new OperatorError(`There is no provider ${name} to check; there are ${providerNames.join(', ')}.`)
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

/** Adapters leave keys out of what they say. Nothing that a provider answers may show one, or control the terminal. */
const withoutSecrets = ({ fault, ...checked }: CheckedAccount, secrets: readonly string[]): CheckedAccount => {
  if (fault === undefined) return checked
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), fault)
  return { ...checked, fault: clean.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ') }
}

const shown = ({ provider, account, fault }: CheckedAccount) => ({
  ...{ provider, account },
  ...{ works: fault === undefined, fault: fault ?? null },
})

const rowOf = ({ provider, account, fault }: CheckedAccount): string[] => [
  provider,
  account,
  fault === undefined ? 'works' : `does not work: ${fault}`,
]
