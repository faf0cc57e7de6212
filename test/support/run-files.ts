import { pathToFileURL } from 'node:url'
import t from 'tap'
import { PROCESS_TIMEOUT_MS } from './test-length.ts'

// Runs the given test files in this process.

// The tests wait until all files are loaded: a file may begin with a long await, and tap would end before it.
t.test('the files load', async () => {
  for (const file of process.argv.slice(2)) await import(pathToFileURL(file).href)
  // A limit that one file sets is not meant for the others. tap reports this one to the suite, which ends the process.
  t.setTimeout(PROCESS_TIMEOUT_MS)
})
