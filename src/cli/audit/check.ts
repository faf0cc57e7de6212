import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { check, parseKeys, Wrong } from '#verify'
import { parseSeal } from '../arguments.ts'
import { OperatorError, UNABLE, WRONG } from '../operator-error.ts'
import { printable } from './text.ts'

export const checkCommand = (): Command =>
  new Command('check')
    .argument('<file>')
    .description('check a proof without the log; exits with 1 if the proof is wrong, and with 2 on errors')
    .requiredOption('--key <file>', 'public keys of the seals: PEM, a JSON Web Key, or a set of JSON Web Keys')
    .option('--seal <seal>', 'name of a seal that you kept; the proof must be for this seal')
    .action((file: string, options: { key: string; seal?: string }) => {
      const kept = options.seal === undefined ? undefined : parseSeal('--seal', options.seal)
      const keyText = read(options.key)
      const keys = parseKeys(keyText)
      if (keys.size === 0) throw new OperatorError(noKey(options.key, keyText), UNABLE)
      const text = read(file)
      try {
        console.log(check(text, keys, kept?.name).join('\n'))
      } catch (error) {
        if (!(error instanceof Wrong)) throw error
        console.log(printable(`wrong: ${error.message}`))
        process.exitCode = WRONG
      }
    })

const noKey = (path: string, text: string): string =>
  text.includes('PRIVATE KEY')
    ? `${path} has a private key, not a public key. Print the public key with "openssl pkey -in ${path} -pubout".`
    : `${path} has no Ed25519 public key. Use a key in PEM, or the JSON of GET /v1/ledger/keys.`

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(`${path} cannot be read: ${(error as Error).message}.`, UNABLE)
  }
}
