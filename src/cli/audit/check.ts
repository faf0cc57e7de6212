import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { decimal } from '../../audit/decimal.ts'
import { checkProof, type Shown } from '../../audit/proofs/check/check.ts'
import { parseKeys } from '../../audit/proofs/check/keys.ts'
import type { Move } from '../../audit/proofs/check/move.ts'
import { Wrong } from '../../audit/proofs/check/wrong.ts'
import { hasName, isOldName, type KeptSeal } from '../../audit/seals/kept-seal.ts'
import { OperatorError } from '../operator-error.ts'
import { parseSeal } from './seal-argument.ts'
import { printable } from './text.ts'
import { UNABLE, WRONG } from './with-log.ts'

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
        const shown = checkProof(text, keys, kept)
        console.log([...toLines(shown), ...adviceOn(shown, kept)].join('\n'))
      } catch (error) {
        if (!(error instanceof Wrong)) throw error
        console.log(printable(`wrong: ${error.message}`))
        process.exitCode = WRONG
      }
    })

const adviceOn = ({ seals }: Shown, kept: KeptSeal | undefined): string[] => {
  if (!kept) return ['To compare with a seal that you kept, pass its name as --seal.']
  const { name = '' } = seals.find(seal => hasName(seal, kept.name)) ?? {}
  return isOldName(kept.name) ? [`No signature covers the old name ${kept.name}: keep ${name} instead.`] : []
}

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

/** The lines say the same as those of `docs/verify/verify.py` and `docs/verify/verify.mjs`. */
const toLines = (shown: Shown): string[] => [
  ...claims(shown),
  ...shown.seals.map(({ name, at }) => `seal ${name} of ${at}`),
]

const claims = (shown: Shown): string[] => {
  const [earlier, later] = shown.seals
  switch (shown.kind) {
    case 'inclusion':
      return [
        `right: ${shown.type}, event ${shown.revision} of ${shown.stream}, is sealed`,
        ...(shown.move ? [`credits: ${moveText(shown.move)}`] : []),
      ]
    case 'consistency':
      return [`right: seal ${later?.number} extends seal ${earlier?.number}`]
    case 'statement': {
      const extent = later ? 'between the seals' : 'up to the seal'
      return [
        `right: ${shown.account} has ${shown.events} events ${extent}, all here`,
        ...shown.moves.map(move => `event ${move.revision}: ${moveText(move)}`),
        `balance: ${credits(shown.beforeMicros)} credits before, ${credits(shown.afterMicros)} credits after`,
        `prices: ${shown.prices} recomputed`,
      ]
    }
  }
}

const moveText = ({ type, amountMicros, afterMicros, runId, model }: Move): string => {
  const named = `${runId === undefined ? '' : ` for ${runId}`}${model === undefined ? '' : ` of ${model}`}`
  return `${credits(amountMicros)} ${VERBS[type]}${named}, ${credits(afterMicros)} after`
}

const VERBS: Readonly<Record<string, string>> = {
  CreditsGranted: 'granted',
  CreditsWithdrawn: 'withdrawn',
  CreditsDebited: 'debited',
  CreditsRefunded: 'refunded',
}

const credits = (micros: number): string => decimal(BigInt(micros), 6)
