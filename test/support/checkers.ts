import { execFileSync, spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'
import { check, parseKeys, Wrong } from '#verify'
import { needsPrograms } from './needs.ts'

// The two programs that check proofs, without their command lines.

export const needsPython = needsPrograms('python3')

/** Its path. What stands under its name may be a script that looks for it, which takes longer than most checks. */
export const findPython = (): string => {
  pythonPath ??= execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim()
  return pythonPath
}

let pythonPath: string | undefined

/** For each text what is wrong with it, or `right`. Rejects if a checker fails in any other way. */
export type Checker = (texts: Buffer[], keys: string) => Promise<string[]>

const inNode: Checker = async (texts, keys) => {
  const known = parseKeys(keys)
  return texts.map(text => attempt(() => check(text.toString(), known)))
}

const attempt = (check: () => unknown): string => {
  try {
    check()
    return 'right'
  } catch (error) {
    if (error instanceof Wrong) return error.message
    throw error
  }
}

/** Signatures are verified once each, because the plain arithmetic of Python takes a while. */
const PYTHON = `
import functools, json, sys
sys.path.insert(0, 'docs/verify')
import verify
verify.ed25519_verify = functools.lru_cache(None)(verify.ed25519_verify)
def outcome(text, keys):
    try:
        verify.check(bytes.fromhex(text).decode('utf-8', 'replace'), keys)
        return 'right'
    except verify.Wrong as wrong:
        return str(wrong)
given = json.load(sys.stdin)
`

const inPython: Checker = (texts, keys) =>
  python('keys = verify.parse_keys(given["keys"])\nfound = [outcome(text, keys) for text in given["texts"]]', {
    keys,
    texts: texts.map(text => text.toString('hex')),
  })

/** Runs lines of Python on some JSON, which it finds as `given`. Resolves to what it leaves as `found`. */
export const python = async <Found>(lines: string, given: object): Promise<Found> => {
  const child = spawn(findPython(), ['-B', '-c', `${PYTHON}${lines}\nprint(json.dumps(found))`])
  child.stdin.end(JSON.stringify(given))
  const [stdout, stderr] = await Promise.all([buffer(child.stdout), text(child.stderr)])
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout.toString())
}

export const checkers: Record<string, Checker> = { inNode, inPython }
