import { spawn, spawnSync } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { findPython } from './checkers.ts'
import { needsPrograms, skipUnlessCi } from './needs.ts'

const hasJsonschema = () => spawnSync('python3', ['-c', 'import jsonschema']).status === 0

/** The tap options of a test that validates with Python's jsonschema. */
export const needsJsonschema = () => {
  const { skip } = needsPrograms('python3')
  return skip ? { skip } : skipUnlessCi(!hasJsonschema() && 'not installed: python3-jsonschema')
}

/** Runs a script on some JSON, and resolves to the JSON that it prints. Rejects with its complaints. */
export const runPython = async <Found>(script: string, given: object): Promise<Found> => {
  const child = spawn(findPython(), ['-B', '-W', 'error', script])
  child.stdin.end(JSON.stringify(given))
  const [found, complaints] = await Promise.all([text(child.stdout), text(child.stderr)])
  if (complaints !== '') throw new Error(complaints)
  return JSON.parse(found)
}
