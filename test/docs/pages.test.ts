import { readFile } from 'node:fs/promises'
import t from 'tap'
import { templateOf } from '../../src/http/operation.ts'
import { operations } from '../../src/http/operations.ts'
import { generatedPages } from '../support/pages/make-pages.ts'

for (const [file, make] of Object.entries(generatedPages))
  t.test(`${file} is as the code has it; npm run docs:pages writes it`, async t => {
    t.equal(await readFile(file, 'utf8'), make())
  })

t.test('the pages of the API and of auditing name every request', async t => {
  const [api, auditing] = await Promise.all(['docs/api.md', 'docs/auditing.md'].map(file => readFile(file, 'utf8')))
  for (const operation of operations) {
    const request = `${operation.method.toUpperCase()} ${templateOf(operation)}`
    t.match(operation.forAuditors ? auditing : api, `\`${request}\``, request)
  }
})
