import { readFile } from 'node:fs/promises'
import t from 'tap'
import { generatedPages } from '../support/pages/make-pages.ts'

for (const [file, make] of Object.entries(generatedPages))
  t.test(`${file} is as the code has it; npm run docs:pages writes it`, async t => {
    t.equal(await readFile(file, 'utf8'), make())
  })
