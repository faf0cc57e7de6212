import { Command } from 'commander'
import { check, type Finding } from '../boot/checks.ts'
import { ConfigError } from '../boot/config.ts'
import { readConfig } from '../boot/read-config.ts'
import { toColumns } from './columns.ts'

/** The exit code if something must be done. */
const FAULTY = 1

export const doctorCommand = (): Command =>
  new Command('doctor')
    .option('--mail <address>', 'also send a message to this address')
    .option('--json', 'print JSON')
    .action(async ({ mail, json }) => {
      const found: (Finding & { check: string })[] = []
      for await (const [part, findings] of checked(mail))
        found.push(...findings.map(finding => ({ check: part, ...finding })))
      if (json) console.log(JSON.stringify(found))
      else console.log(toColumns(found.map(({ check, state, text }) => [SHOWN[state], check, text])))
      if (found.some(({ state }) => state === 'fault')) process.exitCode = FAULTY
    })

const SHOWN = { ok: 'ok', warning: 'warning', fault: 'FAULT' } as const

/** Without a valid configuration, nothing else can be checked. */
async function* checked(mailTo: string | undefined): AsyncGenerator<[string, Finding[]]> {
  try {
    yield* check(readConfig(process.env, { isCommand: true }), { mailTo })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    yield ['configuration', [{ state: 'fault', text: error.message.replaceAll('\n', ' ') }]]
  }
}
