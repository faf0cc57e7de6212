import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { StaticBody } from '../answers/static-body.ts'
import { init } from './init.ts'
import { style } from './style.ts'

/** A file of the page, by its name. */
export const docsFile = async (name: string): Promise<StaticBody | undefined> =>
  own.get(name) ?? (await viewers.get(name)?.())

const own = new Map([
  ['init.js', new StaticBody('text/javascript', init)],
  ['page.css', new StaticBody('text/css', style)],
])

/** A file of the viewer. It is read at the first request, then cached. */
const viewerFile = (name: string, type: string) => {
  let body: Promise<StaticBody> | undefined
  return () => {
    if (body) return body
    const path = createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`)
    body = readFile(path, 'utf8').then(text => new StaticBody(type, text))
    body.catch(() => {
      body = undefined
    })
    return body
  }
}

/** The files of the viewer that the page needs, and the license file that its script refers to. */
const viewers = new Map(
  Object.entries({
    'swagger-ui.css': 'text/css',
    'swagger-ui-bundle.js': 'text/javascript',
    'swagger-ui-bundle.js.LICENSE.txt': 'text/plain',
  }).map(([name, type]) => [name, viewerFile(name, type)]),
)
