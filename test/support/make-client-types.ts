import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { shipped } from '../../src/catalog/shipped.ts'
import { visibleTo } from '../../src/domain/catalog/family.ts'
import { describeApi } from '../../src/http/openapi/document.ts'
import { routes } from '../../src/http/routes.ts'
import { Addresses } from '../../src/services/files/addresses.ts'
import { Presenter } from '../../src/services/presenter.ts'
import { isInstalled, outsideProgram } from './outside.ts'

const typesFile = 'docs/client/api.d.ts'

/** Generates the types of the example client from a document. */
export const makeClientTypes = async (document: string): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-types-'))
  try {
    const file = join(folder, 'openapi.json')
    await writeFile(file, document)
    const [node, script] = outsideProgram('openapi-typescript')
    await promisify(execFile)(node, [script, file, '--output', typesFile])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The document of a service with the shipped catalog. */
const shippedDocument = (): string => {
  const baseUrl = 'http://localhost:8080'
  const present = new Presenter(new Addresses(() => baseUrl), 10_000, () => ({ available: true }))
  const families = shipped.flatMap(family => visibleTo(family, false) ?? []).map(family => present.family(family))
  return JSON.stringify(describeApi(routes, { title: 'Tollgate', baseUrl, families }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (isInstalled('openapi-typescript')) await makeClientTypes(shippedDocument())
  else {
    console.error('openapi-typescript is missing. Run this first: npm ci --ignore-scripts --prefix test/outside')
    process.exitCode = 1
  }
}
