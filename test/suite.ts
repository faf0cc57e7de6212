import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { node } from './support/program.ts'
import { isLong } from './support/test-length.ts'

// Runs every test file in a process of its own, without the coverage hooks of the runner: they take longer to load than
// the service.

t.setTimeout(0)
// More than the processors of a small machine, since tests often wait for a disk or a timer. The long tests load it.
t.jobs = isLong ? 3 : 4

const [command = '', ...args] = node
for (const name of (await readdir(import.meta.dirname, { recursive: true })).sort())
  if (name.endsWith('.test.js'))
    t.spawn(command, [...args, '--enable-source-maps', join(import.meta.dirname, name)], {
      name,
      buffered: true,
      timeout: 300_000,
    })
